#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "onset/aim/model/choices.hpp"

/// One sample of two tokens: only t_a = beta (h_aa - h_12) enters the softmax [aim 92].
namespace onset::aim {

using Pair = std::array<double, 2>;

/// Variances of t_1 + t_2 and t_1 - t_2, over 2: the eigenvalues of K = [[3, 1], [1, 3]].
inline constexpr double sum_variance = 4.0;
inline constexpr double difference_variance = 2.0;

inline double logistic(double x) {
  return x >= 0.0 ? 1.0 / (1.0 + std::exp(-x)) : 1.0 - 1.0 / (1.0 + std::exp(x));
}

/// Loss of one row and its derivatives by t, for a label with probability y of the diagonal.
struct RowLoss {
  double value, first, second;
};

inline RowLoss row_loss(TrainingLoss loss, double t, double y) {
  const double p = logistic(t);
  const double slope = p * (1.0 - p);
  const double error = p - y;
  if (loss == TrainingLoss::square) {
    return {2.0 * error * error, 4.0 * error * slope,
            4.0 * slope * (slope + error * (1.0 - 2.0 * p))};
  }
  const double softplus = t > 0.0 ? t + std::log1p(std::exp(-t)) : std::log1p(std::exp(t));
  return {softplus - y * t, error, slope};
}

/// The minimum over t of (t - w)^T K^-1 (t - w) / (2 chi) + l(t), K = [[3, 1], [1, 3]].
struct PairMinimum {
  Pair t{};
  double value = std::numeric_limits<double>::infinity();
  double loss = 0.0;
  Pair slope{};   ///< dl/dt
  Pair second{};  ///< d2l/dt2
};

class PairProblem {
 public:
  PairProblem(TrainingLoss loss, double chi, Pair w, Pair y)
      : loss_(loss), diagonal_(0.375 / chi), off_(-0.125 / chi), w_(w), y_(y) {}

  /// Newton's method with halved steps, on the convex part of the loss where it is not convex.
  [[nodiscard]] PairMinimum from(Pair start) const {
    PairMinimum now = evaluate(start);
    for (int step = 0; step < max_steps; ++step) {
      const Pair r{now.t[0] - w_[0], now.t[1] - w_[1]};
      const Pair g{diagonal_ * r[0] + off_ * r[1] + now.slope[0],
                   off_ * r[0] + diagonal_ * r[1] + now.slope[1]};
      Pair h{diagonal_ + now.second[0], diagonal_ + now.second[1]};
      if (!(h[0] > 0.0 && h[0] * h[1] > off_ * off_)) {
        h = {diagonal_ + std::max(now.second[0], 0.0), diagonal_ + std::max(now.second[1], 0.0)};
      }
      const double det = h[0] * h[1] - off_ * off_;
      const Pair move{-(h[1] * g[0] - off_ * g[1]) / det, -(h[0] * g[1] - off_ * g[0]) / det};
      const double size = std::max(std::abs(move[0]), std::abs(move[1]));
      const double length = 1.0 + std::max(std::abs(now.t[0]), std::abs(now.t[1]));
      double part = 1.0;
      PairMinimum next = evaluate({now.t[0] + move[0], now.t[1] + move[1]});
      // Close to the minimum its value is flat to rounding, and Newton's step is better than it.
      const double highest = now.value + rounding * std::abs(now.value);
      while (next.value > highest && size * part > close * length) {
        part *= 0.5;
        next = evaluate({now.t[0] + part * move[0], now.t[1] + part * move[1]});
      }
      now = next;
      if (size * part <= close * length) break;
    }
    return now;
  }

 private:
  static constexpr int max_steps = 60;
  static constexpr double close = 1e-8;  // the step after it is below rounding
  static constexpr double rounding = 1e-13;

  [[nodiscard]] PairMinimum evaluate(Pair t) const {
    const RowLoss a = row_loss(loss_, t[0], y_[0]);
    const RowLoss b = row_loss(loss_, t[1], y_[1]);
    const Pair r{t[0] - w_[0], t[1] - w_[1]};
    PairMinimum m;
    m.t = t;
    m.loss = a.value + b.value;
    m.value = m.loss + 0.5 * diagonal_ * (r[0] * r[0] + r[1] * r[1]) + off_ * r[0] * r[1];
    m.slope = {a.first, b.first};
    m.second = {a.second, b.second};
    return m;
  }

  TrainingLoss loss_;
  double diagonal_;  ///< of K^-1 / chi
  double off_;
  Pair w_;
  Pair y_;
};

/// X = dgamma/dw = -Hs (1 + chi K Hs)^-1, symmetric: {x11, x12, x22}, for Hs = diag l''.
inline std::array<double, 3> pair_sensitivity(Pair second, double chi) {
  const double a = second[0];
  const double b = second[1];
  // (1 + chi K Hs): rows {1 + 3 chi a, chi b}, {chi a, 1 + 3 chi b}.
  const double det = (1.0 + 3.0 * chi * a) * (1.0 + 3.0 * chi * b) - chi * chi * a * b;
  return {-a * (1.0 + 3.0 * chi * b) / det, chi * a * b / det, -b * (1.0 + 3.0 * chi * a) / det};
}

/// tr(K X) and tr(K X K X), K = [[3, 1], [1, 3]].
inline double pair_trace(const std::array<double, 3>& x) {
  return 3.0 * (x[0] + x[2]) + 2.0 * x[1];
}
inline double pair_square(const std::array<double, 3>& x) {
  const double a = 3.0 * x[0] + x[1];
  const double b = 3.0 * x[1] + x[2];
  const double c = x[0] + 3.0 * x[1];
  const double d = x[1] + 3.0 * x[2];
  return a * a + 2.0 * b * c + d * d;
}

}  // namespace onset::aim
