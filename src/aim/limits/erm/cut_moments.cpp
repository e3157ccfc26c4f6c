#include "aim/limits/erm/cut_moments.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>

namespace onset::aim {
namespace {

using Complex = std::complex<double>;
using std::numbers::pi;
/// Newton steps in log k inside a bracket; a step that leaves it bisects instead.
constexpr int max_cut_steps = 200;

/// The problem in the scaled variables of [aim 8].
struct Scaled {
  double rho;
  double t;  ///< delta rho
  double e;  ///< cut sqrt(rho)
};

/// Some real root 1 + k, k > 0, of the cubic [aim 11]; within the support it is the only one.
double some_real_root(const Scaled& s) {
  const auto value = [&s](double k) { return s.t * (1.0 + k) + 1.0 / (1.0 + k) - s.rho / k - s.e; };
  double low = 0.5 * std::min(1.0, s.rho / (2.0 * s.t + 1.0 + std::abs(s.e)));
  double high = 2.0 * std::max(1.0, (std::abs(s.e) + s.rho) / s.t + 1.0);
  double k = std::sqrt(low) * std::sqrt(high);
  for (int step = 0; step < max_cut_steps; ++step) {
    const double f = value(k);
    if (f == 0.0) break;
    (f < 0.0 ? low : high) = k;
    const double slope = s.t - 1.0 / ((1.0 + k) * (1.0 + k)) + s.rho / (k * k);
    double next = k * std::exp(std::clamp(-f / (slope * k), -4.0, 4.0));
    if (!(next > low && next < high)) next = std::sqrt(low) * std::sqrt(high);
    const bool done = std::abs(next - k) <= std::numeric_limits<double>::epsilon() * k;
    k = next;
    if (done) break;
  }
  return k;
}

/// Where a cut is, and the root of [aim 8] that belongs to it.
struct Place {
  enum class Where { left, inside, gap, right } where = Where::inside;
  Complex u = {};
  Complex v = {};  ///< 1 - u, kept apart since it cancels near u = 1
};

Place place_of(const Scaled& s) {
  const double k = some_real_root(s);
  const double rest = 1.0 / (1.0 + k) - s.rho / k;
  // Sum of the two other roots by whichever form cancels less [aim 11].
  const bool by_cut = std::max(std::abs(s.e), s.t * k) < std::max(1.0 / (1.0 + k), s.rho / k);
  const double sum = by_cut ? s.e / s.t - k : 1.0 + rest / s.t;
  const double v_sum = by_cut ? 2.0 - sum : 1.0 - rest / s.t;
  const double product = 1.0 / (s.t * (1.0 + k));
  const double square = product - 0.25 * sum * sum;
  if (square > 0.0) {
    const double w = std::sqrt(square);
    return {Place::Where::inside, {0.5 * sum, -w}, {0.5 * v_sum, w}};
  }
  const double larger = 0.5 * (std::abs(sum) + 2.0 * std::sqrt(-square));
  const double first = std::copysign(larger, sum);
  std::array<double, 3> roots{1.0 + k, first, product / first};
  std::sort(roots.begin(), roots.end());
  if (roots[0] < 0.0) return {Place::Where::left, {}, {}};
  if (roots[0] < 1.0) return {Place::Where::right, {}, {}};
  return {Place::Where::gap, {roots[1], 0.0}, {1.0 - roots[1], 0.0}};
}

/// log(1 + z) without cancellation for small z.
Complex log_one_plus(Complex z) {
  const double x = z.real();
  const double y = z.imag();
  return {0.5 * std::log1p(2.0 * x + x * x + y * y), std::atan2(y, 1.0 + x)};
}

CutMoments everything(const Scaled& s) {
  const double root = std::sqrt(s.rho);
  const double cut = s.e / root;
  const double delta = s.t / s.rho;
  return {.mass = 1.0,
          .excess = root - cut,
          .square = 1.0 + s.rho + delta - 2.0 * cut * root + cut * cut,
          .response = 1.0};
}

CutMoments nothing(const Scaled& s) {
  return {.below = 1.0 + s.rho + s.t / s.rho};
}

/// The closed forms [aim 87] and [aim 88] at a root with Im u <= 0.
CutMoments closed_forms(const Scaled& s, const Place& p) {
  const double rho = s.rho;
  const double t = s.t;
  const double e = s.e;
  const Complex u = p.u;
  const Complex v = p.v;
  const bool gap = p.where == Place::Where::gap;
  const Complex lu = std::log(u);
  const Complex lv = gap ? Complex(std::log(-v.real()), pi) : std::log(v);
  const Complex over_u = 1.0 / u;
  const Complex over_v = 1.0 / v;
  const Complex u2 = u * u;
  const Complex u3 = u2 * u;
  const Complex u4 = u2 * u2;
  const Complex v2 = v * v;
  const Complex shift = t * u - e;
  const Complex l = gap ? Complex(std::log1p(-1.0 / u.real()), 0.0) : log_one_plus(-over_u);
  const Complex i_pi(0.0, pi);
  const Complex mass = -lu + rho * (over_v + lv) + 0.5 * t * u2;
  const Complex slope = -u + rho * (u + over_v + 2.0 * lv) + t * u3 / 3.0;
  const Complex excess = -over_u + rho * rho * over_v + t * t * u3 / 3.0 + e * e * u +
                         2.0 * rho * (lu - lv) + 2.0 * t * (1.0 - rho) * u - 2.0 * e * lu +
                         2.0 * rho * (e - t) * lv - t * e * u2;
  const Complex response = lu + rho * rho * (over_v + lv) + 0.25 * t * t * u4 +
                           (0.5 * e * e + t) * u2 - 2.0 * e * u - 2.0 * rho * lv -
                           rho * t * (u2 + 2.0 * u + 2.0 * lv) + 2.0 * rho * e * (u + lv) -
                           2.0 / 3.0 * t * e * u3;
  const Complex square =
      -0.5 * over_u * over_u + 0.5 * std::pow(rho, 3) * over_v * over_v +
      0.25 * shift * shift * shift * shift / t +
      3.0 * (rho * (-over_u + lu - lv) + rho * rho * (lu - lv + over_v) + t * lu + e * over_u +
             0.5 * t * t * u2 - 2.0 * t * e * u + e * e * lu +
             rho * rho * (t * (over_v + lv) - e * over_v) -
             rho * ((t - e) * (t - e) * lv + 2.0 * t * (t - e) * u + 0.5 * t * t * v2)) -
      6.0 * rho * (e * lu + (t - e) * lv);
  const Complex below =
      -0.5 * over_u * over_u + 0.5 * std::pow(rho, 3) * over_v * over_v + 0.25 * t * t * t * u4 +
      3.0 * (-rho * (over_u + l) + rho * rho * (over_v - l) + t * (lu + i_pi) + 0.5 * t * t * u2 +
             rho * rho * t * (over_v + lv) - rho * t * t * (lv + 2.0 * u + 0.5 * v2)) -
      6.0 * rho * t * lv - e * e * e * u;
  const Complex response_slope =
      -0.5 * u2 + rho * (0.5 * u2 + 2.0 * u + over_v + 3.0 * lv) + 0.25 * t * u4;
  const double root = std::sqrt(rho);
  return {.mass = mass.imag() / pi,
          .excess = -excess.imag() / (2.0 * pi * root),
          .square = -square.imag() / (3.0 * pi * rho),
          .response = -response.imag() / pi,
          .slope = root * slope.imag() / pi,
          .response_slope = 2.0 * rho * response_slope.imag() / (3.0 * pi),
          .below = below.imag() / (3.0 * pi * rho)};
}

}  // namespace

CutMoments cut_moments(double rho, double delta, double cut) {
  const Scaled s{rho, delta * rho, cut * std::sqrt(rho)};
  const Place place = place_of(s);
  switch (place.where) {
    case Place::Where::left: return everything(s);
    case Place::Where::right: return nothing(s);
    case Place::Where::inside:
    case Place::Where::gap: break;
  }
  return closed_forms(s, place);
}

}  // namespace onset::aim
