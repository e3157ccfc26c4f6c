#include "aim/limits/erm/shrunk_spectrum.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "aim/limits/erm/cut_moments.hpp"
#include "aim/limits/spectrum.hpp"

namespace onset::aim {
namespace {

/// Everything that follows from the sums over the parts that are kept.
ShrunkSpectrum completed(ShrunkSpectrum s, const CutMoments& parts, double delta,
                         double threshold) {
  s.error = threshold * threshold * s.rank + parts.below - delta + 2.0 * delta * s.response;
  s.error_by_threshold = 2.0 * (threshold * s.rank - delta * parts.slope);
  s.error_by_delta = s.response - threshold * parts.slope + 2.0 * delta * parts.response_slope;
  return s;
}

ShrunkSpectrum cut_from_below(double rho, double delta, double threshold) {
  const CutMoments c = cut_moments(rho, delta, threshold);
  return completed({.rank = c.mass,
                    .trace = c.excess,
                    .absolute = c.excess,
                    .square = c.square,
                    .response = c.response},
                   c, delta, threshold);
}

/// The lower part is what the moments at -threshold leave of the whole spectrum [aim 85].
ShrunkSpectrum cut_from_both_sides(double rho, double delta, double threshold) {
  const CutMoments low = cut_moments(rho, delta, -threshold);
  // Differences with the whole spectrum are rounding where nothing lies below.
  if (low.mass == 1.0) return cut_from_below(rho, delta, threshold);
  const CutMoments up = cut_moments(rho, delta, threshold);
  const double root = std::sqrt(rho);
  const double low_mean = root + threshold - low.excess;
  const double low_square =
      1.0 + rho + delta + 2.0 * threshold * root + threshold * threshold - low.square;
  CutMoments both;
  both.below = up.below - low.below;
  both.slope = up.slope + low.slope;
  both.response_slope = up.response_slope - low.response_slope;
  return completed({.rank = up.mass + (1.0 - low.mass),
                    .trace = up.excess + low_mean,
                    .absolute = up.excess - low_mean,
                    .square = up.square + low_square,
                    .response = up.response + (1.0 - low.response)},
                   both, delta, threshold);
}

/// A node of the spectrum and its part: -1 and 1 are kept, 0 is not.
struct Node {
  double x;
  double weight;
  double image;  ///< f(x)
  int part;
};

struct Cuts {
  Penalty penalty;
  double threshold;
  [[nodiscard]] int part(double x) const {
    if (x > threshold) return 1;
    return penalty == Penalty::nuclear && x < -threshold ? -1 : 0;
  }
  [[nodiscard]] double image(double x) const {
    const int p = part(x);
    return p == 0 ? 0.0 : x - p * threshold;
  }
  /// Ends of the pieces of a band.
  [[nodiscard]] std::vector<double> pieces(const Band& band) const {
    std::vector<double> ends{band.low};
    for (const double cut : {-threshold, threshold}) {
      const bool used = cut == threshold || penalty == Penalty::nuclear;
      if (used && cut > ends.back() && cut < band.high) ends.push_back(cut);
    }
    ends.push_back(band.high);
    return ends;
  }
};

/// Gauss nodes in the angle of x = middle - half cos(angle), which takes the square roots at the
/// ends of the support.
template <int count>
void add_nodes(const NoisySpectrum& spectrum, const Cuts& cuts, double low, double high,
               std::vector<Node>& nodes) {
  using Rule = boost::math::quadrature::gauss<double, count>;
  const double half = 0.5 * (high - low);
  const auto add = [&](double s, double weight) {
    const double angle = 0.5 * std::numbers::pi * (1.0 + s);
    const double x = 0.5 * (low + high) - half * std::cos(angle);
    const double mass = spectrum.density(x).value * half * std::sin(angle);
    nodes.push_back(
        {x, 0.5 * std::numbers::pi * weight * mass, cuts.image(x), cuts.part(0.5 * (low + high))});
  };
  for (std::size_t i = 0; i < Rule::abscissa().size(); ++i) {
    add(Rule::abscissa()[i], Rule::weights()[i]);
    if (Rule::abscissa()[i] != 0.0) add(-Rule::abscissa()[i], Rule::weights()[i]);
  }
}

template <int count>
double double_integral(const NoisySpectrum& spectrum, const Cuts& cuts) {
  std::vector<Node> nodes;
  for (const Band& band : spectrum.bands()) {
    const std::vector<double> ends = cuts.pieces(band);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      add_nodes<count>(spectrum, cuts, ends[i], ends[i + 1], nodes);
    }
  }
  double mass[3] = {};
  for (const Node& node : nodes) mass[node.part + 1] += node.weight;
  double total = mass[0] * mass[0] + mass[2] * mass[2];  // within a kept part the difference is 1
  for (const Node& a : nodes) {
    for (const Node& b : nodes) {
      if (a.part <= b.part) continue;
      const double ratio = (a.image - b.image) / (a.x - b.x);
      total += 2.0 * a.weight * b.weight * ratio * ratio;
    }
  }
  return total;
}

}  // namespace

ShrunkSpectrum shrunk_spectrum(Penalty penalty, double rho, double delta, double threshold) {
  return penalty == Penalty::nuclear ? cut_from_both_sides(rho, delta, threshold)
                                     : cut_from_below(rho, delta, threshold);
}

Estimate squared_difference(Penalty penalty, double rho, double delta, double threshold) {
  const NoisySpectrum spectrum(rho, delta);
  const Cuts cuts{penalty, threshold};
  const double fine = double_integral<80>(spectrum, cuts);
  const double coarse = double_integral<56>(spectrum, cuts);
  constexpr double rounding = 1e-14;
  return {fine, std::max(2.0 * std::abs(fine - coarse), rounding)};
}

double right_edge(double rho, double delta) {
  return NoisySpectrum(rho, delta).bands().back().high;
}

}  // namespace onset::aim
