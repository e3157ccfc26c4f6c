#include "smi/model/links/wedge.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

#include "smi/model/links/normal_tail.hpp"

namespace onset::smi {
namespace {

constexpr double pi = std::numbers::pi;
// Exponents this far above the lowest weigh less than rounding.
constexpr double negligible = 42.0;
// Panels of the 20-point rule over the part where rays pass the origin: it is at most 19 standard
// deviations long.
constexpr int panels = 4;

double normal_cdf(double k) {
  return 0.5 * std::erfc(-k / std::numbers::sqrt2);
}

// The mass as an integral over rays from the apex: a ray that passes the origin at distance |s|,
// its foot at -c from the apex (c = apex . direction), has the mass
//   exp(-s^2 / 2) int_0^inf r exp(-(r + c)^2 / 2) dr / 2 pi.
// Angles are counted from the ray through the origin.
class Rays {
 public:
  Rays(double distance, double first, double last)
      : distance_(distance), first_(first), last_(last) {
    const double nearest = std::clamp(0.0, first, last);
    const bool approaches = std::fabs(nearest) < 0.5 * pi;
    nearest_ = distance * (approaches ? std::fabs(std::sin(nearest)) : 1.0);
  }

  // The smallest exponent, taken out of integral(): half the squared distance to the origin.
  [[nodiscard]] double lowest() const { return 0.5 * nearest_ * nearest_; }

  [[nodiscard]] double integral() const {
    const double reach = std::hypot(nearest_, std::sqrt(2.0 * negligible));
    const double limit = reach < distance_ ? std::asin(reach / distance_) : 0.5 * pi;
    double sum = even_panels(std::fmax(first_, -limit), std::fmin(last_, limit));
    if (reach >= distance_) {
      sum += graded_panels(std::fmax(first_, 0.5 * pi), last_);
      sum += graded_panels(std::fmax(-last_, 0.5 * pi), -first_);  // the integrand is even
    }
    return sum / (2.0 * pi);
  }

 private:
  [[nodiscard]] double integrand(double angle) const {
    const double c = -distance_ * std::cos(angle);
    const double at_apex = std::exp(-0.5 * (distance_ - nearest_) * (distance_ + nearest_));
    if (c >= 0.0) return at_apex * first_half_moment(c);
    const double s = distance_ * std::fabs(std::sin(angle));
    const double at_foot = std::exp(-0.5 * (s - nearest_) * (s + nearest_));
    return at_apex - c * std::sqrt(2.0 * pi) * normal_cdf(-c) * at_foot;
  }
  [[nodiscard]] double panel(double from, double to) const {
    return boost::math::quadrature::gauss<double, 20>::integrate(
        [this](double angle) { return integrand(angle); }, from, to);
  }
  [[nodiscard]] double even_panels(double from, double to) const {
    double sum = 0.0;
    for (int i = 0; i < panels && from < to; ++i) {
      sum += panel(from + (to - from) * i / panels, from + (to - from) * (i + 1) / panels);
    }
    return sum;
  }
  // Rays that lead away: the integrand changes over 1 / distance at first, then ever more slowly.
  [[nodiscard]] double graded_panels(double from, double to) const {
    double sum = 0.0;
    double length = 2.0 / (2.0 + distance_);
    for (; from < to; length *= 2.0) {
      const double end = std::fmin(from + length, to);
      sum += panel(from, end);
      from = end;
    }
    return sum;
  }

  double distance_;
  double first_;
  double last_;
  double nearest_;
};

}  // namespace

WedgeMoments wedge_moments(const std::array<double, 2>& apex, double first, double last) {
  const double to_origin = std::atan2(-apex[1], -apex[0]);
  const double middle = std::remainder(0.5 * (first + last) - to_origin, 2.0 * pi);
  const double half_width = 0.5 * (last - first);
  const Rays rays(std::hypot(apex[0], apex[1]), middle - half_width, middle + half_width);
  const double mass = rays.integral();
  WedgeMoments out{std::log(mass) - rays.lowest(), {}, {1.0, 0.0, 1.0}};
  // Stein's identities: what the moments differ by from those of the plane is on the two edges.
  for (const bool is_first : {true, false}) {
    const double angle = is_first ? first : last;
    const double inward = is_first ? 1.0 : -1.0;
    const std::array<double, 2> along = {std::cos(angle), std::sin(angle)};
    const std::array<double, 2> normal = {-inward * along[1], inward * along[0]};
    const double s = apex[0] * normal[0] + apex[1] * normal[1];
    const double c = apex[0] * along[0] + apex[1] * along[1];
    const double density = std::exp(rays.lowest() - 0.5 * s * s) / std::sqrt(2.0 * pi) / mass;
    const double edge = density * std::exp(log_normal_cdf(-c));
    const double edge_moment = density * std::exp(-0.5 * c * c) / std::sqrt(2.0 * pi);
    std::array<double, 2> moment{};  // of the position along the edge
    for (std::size_t i = 0; i < 2; ++i) {
      moment[i] = s * normal[i] * edge + along[i] * edge_moment;
      out.mean[i] += normal[i] * edge;
    }
    out.second[0] += normal[0] * moment[0];
    out.second[1] += normal[1] * moment[0];
    out.second[2] += normal[1] * moment[1];
  }
  return out;
}

}  // namespace onset::smi
