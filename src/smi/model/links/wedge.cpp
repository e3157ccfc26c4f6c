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
constexpr double negligible_exponent = 42.0;
// The number of panels of the 20-point rule over the part where rays pass the origin, at most 19
// standard deviations.
constexpr int panels = 4;

// Weighted sums over rays: of 1, of the position and of its square.
struct Sums {
  double mass = 0.0;
  std::array<double, 2> first{};
  std::array<double, 3> second{};
};

// Moments as integrals over rays from the apex. A ray in direction u passes the origin at a signed
// distance s; with c = apex . u its points are s n + w u, w > c, and carry the weight
//   exp(-s^2 / 2) (w - c) exp(-w^2 / 2) dw / 2 pi.
// Its moments in w are closed, and all terms are positive. Angles are counted from the ray through
// the origin.
class Rays {
 public:
  Rays(double distance, double to_origin, double first, double last)
      : distance_(distance), to_origin_(to_origin), first_(first), last_(last) {
    const double nearest = std::clamp(0.0, first, last);
    const bool approaches = std::fabs(nearest) < 0.5 * pi;
    nearest_ = distance * (approaches ? std::fabs(std::sin(nearest)) : 1.0);
    at_apex_ = std::exp(-0.5 * (distance - nearest_) * (distance + nearest_));
  }

  // The smallest exponent, taken out of the sums: half the squared distance to the origin.
  [[nodiscard]] double lowest() const { return 0.5 * nearest_ * nearest_; }

  [[nodiscard]] Sums integrate() const {
    Sums sums;
    const double reach = std::hypot(nearest_, std::sqrt(2.0 * negligible_exponent));
    const double limit = reach < distance_ ? std::asin(reach / distance_) : 0.5 * pi;
    even_panels(std::fmax(first_, -limit), std::fmin(last_, limit), sums);
    if (reach >= distance_) {
      graded_panels(std::fmax(first_, 0.5 * pi), last_, +1.0, sums);
      graded_panels(std::fmax(-last_, 0.5 * pi), -first_, -1.0, sums);
    }
    return sums;
  }

 private:
  void ray(double angle, double weight, Sums& sums) const {
    const double c = -distance_ * std::cos(angle);
    const double s = distance_ * std::sin(angle);
    const std::array<double, 2> u = {std::cos(to_origin_ + angle), std::sin(to_origin_ + angle)};
    const std::array<double, 2> n = {-u[1], u[0]};
    const double at_apex = weight * at_apex_;
    double w0;  // integrals of 1, w, w^2
    double w1;
    double w2;
    if (c >= 0.0) {
      const double k = first_half_moment(c);
      w0 = at_apex * k;
      w1 = at_apex * mills_ratio(c);
      w2 = at_apex * (1.0 + k);
    } else {
      const double height = 0.5 * (std::fabs(s) - nearest_) * (std::fabs(s) + nearest_);
      const double cdf = 0.5 * std::erfc(c / std::numbers::sqrt2);
      w1 = weight * std::sqrt(2.0 * pi) * cdf * std::exp(-height);
      w0 = at_apex - c * w1;
      w2 = 2.0 * at_apex - c * w1;
    }
    sums.mass += w0;
    for (std::size_t i = 0, pair = 0; i < 2; ++i) {
      sums.first[i] += s * n[i] * w0 + u[i] * w1;
      for (std::size_t j = 0; j <= i; ++j, ++pair) {
        sums.second[pair] +=
            s * s * n[i] * n[j] * w0 + s * (n[i] * u[j] + u[i] * n[j]) * w1 + u[i] * u[j] * w2;
      }
    }
  }
  // Adds the angles from `from` to `to`, times `side`.
  void panel(double from, double to, double side, Sums& sums) const {
    using Rule = boost::math::quadrature::gauss<double, 20>;
    const double middle = 0.5 * (from + to);
    const double half = 0.5 * (to - from);
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
      const double offset = half * Rule::abscissa()[k];
      ray(side * (middle - offset), half * Rule::weights()[k], sums);
      ray(side * (middle + offset), half * Rule::weights()[k], sums);
    }
  }
  void even_panels(double from, double to, Sums& sums) const {
    for (int i = 0; i < panels && from < to; ++i) {
      panel(from + (to - from) * i / panels, from + (to - from) * (i + 1) / panels, 1.0, sums);
    }
  }
  // Handles rays that lead away: the integrand changes over 1 / distance at first, then ever more
  // slowly.
  void graded_panels(double from, double to, double side, Sums& sums) const {
    for (double length = 2.0 / (2.0 + distance_); from < to; length *= 2.0) {
      const double end = std::fmin(from + length, to);
      panel(from, end, side, sums);
      from = end;
    }
  }

  double distance_;
  double to_origin_;
  double first_;
  double last_;
  double nearest_;
  double at_apex_;
};

}  // namespace

WedgeMoments wedge_moments(const std::array<double, 2>& apex, double first, double last) {
  const double to_origin = std::atan2(-apex[1], -apex[0]);
  const double middle = std::remainder(0.5 * (first + last) - to_origin, 2.0 * pi);
  const double half_width = 0.5 * (last - first);
  const Rays rays(std::hypot(apex[0], apex[1]), to_origin, middle - half_width,
                  middle + half_width);
  const Sums sums = rays.integrate();
  WedgeMoments out{std::log(sums.mass / (2.0 * pi)) - rays.lowest(), sums.first, sums.second};
  for (double& x : out.mean) x /= sums.mass;
  for (double& x : out.second) x /= sums.mass;
  return out;
}

}  // namespace onset::smi
