#include "smi/model/links/product_link.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

// The step of the trapezoid rule in tau, in which the integrand varies over lengths of order one. A
// step eight times smaller gives the same result to rounding, at all V and for labels four
// deviations off.
constexpr double step = 0.5;
// Nodes this far above the lowest energy weigh less than rounding.
constexpr double negligible = 42.0;
// A product of 0 has an infinite density; anything smaller than this counts as this.
constexpr double min_root = 1e-30;
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
    double low = energy(place(minima_[0]));
    if (minimum_count_ == 2) low = std::fmin(low, energy(place(minima_[1])));
    return low;
  }

  // Calls visit(weight, zeta_1, zeta_2) for every node whose weight relative to energy `lowest`
  // matters.
  template <class Visit>
  void nodes(double lowest, const Visit& visit) const {
    const long long start = first_node(minima_[0]);
    walk(minima_[0], start - 1, -1, lowest, start - max_nodes, visit);
    const long long end = walk(minima_[0], start, +1, lowest, start + max_nodes, visit);
    if (minimum_count_ == 1) return;
    const long long second_start = first_node(minima_[1]);
    if (second_start < end) return;  // there is no barrier between the two
    walk(minima_[1], second_start - 1, -1, lowest, end - 1, visit);
    walk(minima_[1], second_start, +1, lowest, second_start + max_nodes, visit);
  }

 private:
  // This is far more than any posterior takes; it keeps a NaN from walking forever.
  static constexpr long long max_nodes = 1'000'000;

  // A point of the branch.
  struct Place {
    double t;
    double x;  // z_1
    double z;  // z_2
  };
  [[nodiscard]] Place place(double t) const {
    const double e = std::exp(t);
    return {t, root_ * e, root_ / e};
  }
  [[nodiscard]] double energy(const Place& p) const {
    const double a = (p.x - omega_1_) / deviation_;
    const double b = (p.z - omega_2_) / deviation_;
    return 0.5 * (a * a + b * b);
  }
  // V d energy / d t.
  [[nodiscard]] double slope(double t) const {
    const Place p = place(t);
    return p.x * (p.x - omega_1_) - p.z * (p.z - omega_2_);
  }
  [[nodiscard]] double tau(const Place& p) const { return p.t + (p.x - p.z) / deviation_; }
  [[nodiscard]] double tau_slope(const Place& p) const { return 1.0 + (p.x + p.z) / deviation_; }
  [[nodiscard]] long long first_node(double t) const { return std::llround(tau(place(t)) / step); }

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

  // Visits nodes `index`, index + direction, .. away from a minimum, until the weight is negligible
  // or the index reaches `end`; returns the first node left out.
  template <class Visit>
  long long walk(double from, long long index, int direction, double lowest, long long end,
                 const Visit& visit) const {
    Place p = place(from);
    for (; index != end; index += direction) {
      p = node(static_cast<double>(index) * step, p);
      const double height = energy(p) - lowest;
      if (!(height < negligible)) break;
      visit(step / tau_slope(p) * std::exp(-height), (p.x - omega_1_) / deviation_,
            (p.z - omega_2_) / deviation_);
    }
    return index;
  }

  // Where tau = target, by Newton's method from a neighbouring node.
  [[nodiscard]] Place node(double target, Place p) const {
    constexpr int most = 50;
    // Newton squares its error: a move this small leaves one of about its square.
    constexpr double close = 1e-8;
    for (int i = 0; i < most; ++i) {
      const double move = std::clamp((target - tau(p)) / tau_slope(p), -1.0, 1.0);
      p = place(p.t + move);
      if (std::fabs(move) < close) break;
    }
    return p;
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
  const double root = std::fmax(std::sqrt(std::fabs(label[0])), min_root);
  const double other = std::copysign(1.0, label[0]);  // sign of z_2 on the branch z_1 > 0
  const double v = variance[0];
  const std::array<Branch, 2> branches = {Branch(root, omega[0], other * omega[1], v),
                                          Branch(root, -omega[0], -other * omega[1], v)};
  const double lowest = std::fmin(branches[0].lowest(), branches[1].lowest());
  double total = 0.0;
  std::fill(mean.begin(), mean.end(), 0.0);
  std::fill(second.begin(), second.end(), 0.0);
  for (std::size_t b = 0; b < branches.size(); ++b) {
    const double sign = b == 0 ? 1.0 : -1.0;
    branches[b].nodes(lowest, [&](double weight, double zeta_1, double zeta_2) {
      total += weight;
      mean[0] += weight * sign * zeta_1;
      mean[1] += weight * sign * other * zeta_2;
      second[0] += weight * zeta_1 * zeta_1;
      second[1] += weight * other * zeta_1 * zeta_2;
      second[2] += weight * zeta_2 * zeta_2;
    });
  }
  for (double& x : mean) x /= total;
  for (double& x : second) x /= total;
  return std::log(total / (2.0 * std::numbers::pi * v)) - lowest;
}

}  // namespace onset::smi
