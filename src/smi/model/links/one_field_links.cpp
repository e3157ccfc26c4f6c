#include "smi/model/links/one_field_links.hpp"

#include <algorithm>
#include <numbers>

#include "smi/model/links/mixture.hpp"
#include "smi/model/links/normal_tail.hpp"

namespace onset::smi {
namespace {

using In = std::span<const double>;
using Out = std::span<double>;

// The prior of one field, and the posterior as a mixture of points.
class Points {
 public:
  Points(double omega, double variance, Out mean, Out second)
      : mixture_(mean, second),
        omega_(omega),
        scale_(1.0 / std::sqrt(variance)),
        log_norm_(-0.5 * std::log(2.0 * std::numbers::pi * variance)) {}

  // A field z that has the label; `slope` = |d label / d z| there.
  void add(double z, double slope = 1.0) {
    const double zeta = (z - omega_) * scale_;
    const double square = zeta * zeta;
    mixture_.add(log_norm_ - 0.5 * square - std::log(slope), {&zeta, 1}, {&square, 1});
  }
  double finish() { return mixture_.finish(); }

 private:
  Mixture mixture_;
  double omega_;
  double scale_;
  double log_norm_;
};

// Roots this close to 0 are not resolved by |z^2 - 3| in double precision; the floor keeps the
// density of such labels finite.
constexpr double unresolved_root = 1e-9;

}  // namespace

double LinearLink::posterior(In label, In omega, In variance, Out mean, Out second) {
  Points points(omega[0], variance[0], mean, second);
  points.add(label[0]);
  return points.finish();
}

double SquareLink::posterior(In label, In omega, In variance, Out mean, Out second) {
  Points points(omega[0], variance[0], mean, second);
  points.add(label[0]);
  points.add(-label[0]);
  return points.finish();
}

double Hermite4Link::posterior(In label, In omega, In variance, Out mean, Out second) {
  Points points(omega[0], variance[0], mean, second);
  for (const double square : {3.0 + label[0], 3.0 - label[0]}) {
    if (square < 0.0) continue;
    const double root = std::max(std::sqrt(square), unresolved_root);
    points.add(root, 2.0 * root);
    points.add(-root, 2.0 * root);
  }
  return points.finish();
}

double ReluLink::posterior(In label, In omega, In variance, Out mean, Out second) {
  if (label[0] > 0.0) return LinearLink::posterior(label, omega, variance, mean, second);
  const HalfLine below = half_line(-omega[0] / std::sqrt(variance[0]));
  mean[0] = -below.mean;
  second[0] = below.second;
  return below.log_mass;
}

}  // namespace onset::smi
