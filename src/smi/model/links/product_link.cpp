#include "smi/model/links/product_link.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "smi/model/links/mixture.hpp"

namespace onset::smi {
namespace {

// Step of the trapezoid rule in tau, in which the integrand varies over lengths of order one;
// halving it changes nothing above rounding (tests).
constexpr double step = 0.25;
// Nodes this far above the lowest energy weigh less than rounding.
constexpr double negligible = 42.0;
// A product of 0 has an infinite density; anything smaller than this counts as this.
constexpr double smallest_root = 1e-30;
constexpr int bisections = 60;

// One branch of the hyperbola: z_1 = x, z_2 = y / x with x > 0 and y > 0 (the caller flips signs).
// The measure is dx / x = dt with x = r e^t, r = sqrt(y). The energy is a squared distance over 2V,
// so it varies over arcs of length sqrt(V), and near a corner sharper than that over lengths of
// order one in t. Both are one unit, at least, of
//   tau = t + (r / sqrt V) (e^t - e^-t),   d tau / d t = 1 + (x + y / x) / sqrt V,
// and the trapezoid rule in tau converges exponentially.
class Branch {
 public:
  Branch(double root, double omega_1, double omega_2, double variance)
      : root_(root), omega_1_(omega_1), omega_2_(omega_2), deviation_(std::sqrt(variance)) {
    find_minima();
  }

  [[nodiscard]] double lowest() const {
    double low = energy(minima_[0]);
    if (minimum_count_ == 2) low = std::fmin(low, energy(minima_[1]));
    return low;
  }

  // Calls visit(log weight, zeta_1, zeta_2) for every node with energy below `limit`.
  template <class Visit>
  void nodes(double limit, const Visit& visit) const {
    long long done = first_node(minima_[0]) - 1;  // nodes up to here have been visited
    walk(minima_[0], done, -1, limit, done - max_nodes, visit);
    done = walk(minima_[0], done + 1, +1, limit, done + max_nodes, visit) - 1;
    if (minimum_count_ == 1) return;
    const long long start = first_node(minima_[1]);
    if (start <= done) return;  // no barrier between the two
    walk(minima_[1], start - 1, -1, limit, done, visit);
    walk(minima_[1], start, +1, limit, start + max_nodes, visit);
  }

 private:
  static constexpr long long max_nodes = 1'000'000;

  [[nodiscard]] double x(double t) const { return root_ * std::exp(t); }
  [[nodiscard]] double z(double t) const { return root_ * std::exp(-t); }
  [[nodiscard]] double energy(double t) const {
    const double a = (x(t) - omega_1_) / deviation_;
    const double b = (z(t) - omega_2_) / deviation_;
    return 0.5 * (a * a + b * b);
  }
  // V d energy / d t.
  [[nodiscard]] double slope(double t) const {
    const double a = x(t);
    const double b = z(t);
    return a * (a - omega_1_) - b * (b - omega_2_);
  }
  [[nodiscard]] double tau(double t) const { return t + (x(t) - z(t)) / deviation_; }
  [[nodiscard]] double tau_slope(double t) const { return 1.0 + (x(t) + z(t)) / deviation_; }
  [[nodiscard]] long long first_node(double t) const { return std::llround(tau(t) / step); }

  // The zero of an increasing function between two arguments.
  template <class F>
  static double zero(const F& f, double low, double high) {
    for (int i = 0; i < bisections; ++i) {
      const double middle = 0.5 * (low + high);
      (f(middle) < 0.0 ? low : high) = middle;
    }
    return 0.5 * (low + high);
  }

  // The first place with a falling (rising) energy on the way down (up) from t.
  [[nodiscard]] double falling_below(double t) const {
    double way = 1.0;
    while (slope(t - way) >= 0.0) way *= 2.0;
    return t - way;
  }
  [[nodiscard]] double rising_above(double t) const {
    double way = 1.0;
    while (slope(t + way) <= 0.0) way *= 2.0;
    return t + way;
  }

  // x^2 slope = f(x) = x^4 - omega_1 x^3 + omega_2 y x - y^2 has one positive root or three, and
  // three only when f' = 4 x^3 - 3 omega_1 x^2 + omega_2 y has two, on both sides of omega_1 / 2.
  void find_minima() {
    const auto f = [this](double t) { return slope(t); };
    const double push = omega_2_ * root_ * root_;
    if (omega_1_ > 0.0 && push > 0.0 && 4.0 * push < omega_1_ * omega_1_ * omega_1_) {
      const auto falls = [&](double v) { return (3.0 * omega_1_ - 4.0 * v) * v * v - push; };
      const auto rises = [&](double v) { return -falls(v); };
      const double least = std::sqrt(push / (3.0 * omega_1_));
      const double top = zero(falls, least, std::fmin(0.5 * omega_1_, 2.0 * least));
      const double bottom = zero(rises, 0.5 * omega_1_, 0.75 * omega_1_);
      const double t_top = std::log(top / root_);
      const double t_bottom = std::log(bottom / root_);
      if (slope(t_top) > 0.0 && slope(t_bottom) < 0.0) {
        minima_ = {zero(f, falling_below(t_top), t_top), zero(f, t_bottom, rising_above(t_bottom))};
        minimum_count_ = 2;
        return;
      }
    }
    minima_[0] = zero(f, falling_below(0.0), rising_above(0.0));
  }

  // From a minimum, nodes `index`, index + direction, .. up to where the energy passes `limit` or
  // the index reaches `end`; returns the first node left out.
  template <class Visit>
  long long walk(double t, long long index, int direction, double limit, long long end,
                 const Visit& visit) const {
    for (; index != end; index += direction) {
      t = node(static_cast<double>(index) * step, t);
      const double e = energy(t);
      if (e > limit) break;
      visit(std::log(step / tau_slope(t)) - e, (x(t) - omega_1_) / deviation_,
            (z(t) - omega_2_) / deviation_);
    }
    return index;
  }

  // t with tau(t) = target, by Newton's method from a neighbouring node.
  [[nodiscard]] double node(double target, double t) const {
    constexpr int most = 50;
    for (int i = 0; i < most; ++i) {
      const double move = (target - tau(t)) / tau_slope(t);
      t += std::clamp(move, -1.0, 1.0);
      if (std::fabs(move) < 1e-15 * (1.0 + std::fabs(t))) break;
    }
    return t;
  }

  double root_;
  double omega_1_;
  double omega_2_;
  double deviation_;
  std::array<double, 2> minima_{};
  int minimum_count_ = 1;
};

}  // namespace

double ProductLink::posterior(std::span<const double> label, std::span<const double> omega,
                              std::span<const double> variance, std::span<double> mean,
                              std::span<double> second) {
  const double root = std::fmax(std::sqrt(std::fabs(label[0])), smallest_root);
  const double other = std::copysign(1.0, label[0]);  // sign of z_2 on the branch z_1 > 0
  const double v = variance[0];
  const std::array<Branch, 2> branches = {Branch(root, omega[0], other * omega[1], v),
                                          Branch(root, -omega[0], -other * omega[1], v)};
  const double limit = std::fmin(branches[0].lowest(), branches[1].lowest()) + negligible;
  Mixture mixture(mean, second);
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const double sign = b == 0 ? 1.0 : -1.0;
    branches[b].nodes(limit, [&](double log_weight, double zeta_1, double zeta_2) {
      const std::array<double, 2> zeta = {sign * zeta_1, sign * other * zeta_2};
      std::array<double, 3> square{};
      outer_triangle(zeta, square);
      mixture.add(log_weight, zeta, square);
    });
  }
  return mixture.finish() - std::log(2.0 * std::numbers::pi * v);
}

}  // namespace onset::smi
