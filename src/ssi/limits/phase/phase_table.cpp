#include "ssi/limits/phase/phase_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "numerics/solvers/roots.hpp"

namespace onset::ssi {
namespace {

/// The number of cells of the quarter circle, and of the quarter disk, in which sign changes are
/// looked for.
constexpr int rim_cells = 256;
constexpr int rings = 12;
constexpr int spokes = 24;

double rim_angle(int k) {
  return 0.5 * std::numbers::pi * k / rim_cells;
}

double radial(const Jet& r, double e, double m) {
  return r.e * e + r.m * m;
}

}  // namespace

/// The coefficients of [ssi 45].
struct PhaseDiagram::Table::Mixture {
  double constant = 0.0;
  double j = 0.0;
  double p = 0.0;
  double o = 0.0;
};

/// Half of the tokens carry +P, and one more of an odd number. Their rows of A have `alpha` in the
/// columns of their own sign and `beta` in the others; sums over rows of either sign are added up
/// as halves, since for even L the two signs are alike.
PhaseDiagram::Table::Mixture PhaseDiagram::Table::mixture(double a, double omega) const {
  const auto tokens = static_cast<double>(universal_->tokens());
  const bool even = universal_->tokens() % 2 == 0;
  const double plus = std::ceil(0.5 * tokens);
  Mixture mix;
  double cross = 0.0;
  double both = 0.0;
  double rest = 0.0;
  const auto add = [&](double own, double start, double weight) {
    const double other = tokens - own;
    const double alpha = 1.0 / (own + other * std::exp(-2.0 * a * a));
    const double beta = (1.0 - own * alpha) / other;
    cross += weight * (alpha * start + beta * (own - start));
    both += weight * own * (own * alpha * alpha + other * beta * beta);
    rest += weight * own * beta;
    return -2.0 * weight * omega * (alpha - beta);
  };
  mix.p = add(plus, start_.p.value, even ? 1.0 : 0.5);
  if (!even) mix.o = add(tokens - plus, start_.o.value, 0.5);
  mix.constant = 0.5 * ((1.0 - omega) * (1.0 - omega) * start_.f.value +
                        4.0 * omega * (1.0 - omega) * cross + 2.0 * omega * omega * both) -
                 2.0 * omega * rest;
  mix.j = -(1.0 - omega);
  return mix;
}

PhaseDiagram::Table::Table(std::shared_ptr<const Universal> universal)
    : universal_(std::move(universal)),
      start_(parts(0.0, 0.0)),
      positional_(parts(1.0, 0.0)),
      semantic_(parts(0.0, 1.0)) {
  for (int k = 1; k < rim_cells; ++k) {
    rim_.push_back(parts(std::cos(rim_angle(k)), std::sin(rim_angle(k))));
  }
  for (int i = 0; i <= rings; ++i) {
    for (int k = 0; k <= spokes; ++k) {
      const double r = static_cast<double>(i) / rings;
      const double theta = 0.5 * std::numbers::pi * k / spokes;
      inner_.push_back(parts(r * std::cos(theta), r * std::sin(theta)));
    }
  }
}

PhaseDiagram::Table::Parts PhaseDiagram::Table::parts(double e, double m) const {
  Parts x;
  x.j = universal_->cross(e, m);
  x.f = universal_->square(e);
  x.p = universal_->own_attention(true, e);
  if (universal_->tokens() % 2 == 1) x.o = universal_->own_attention(false, e);
  return x;
}

Jet PhaseDiagram::Table::combine(const Mixture& mix, const Parts& x) {
  Jet r;
  r.value =
      mix.constant + 0.5 * x.f.value + mix.j * x.j.value + mix.p * x.p.value + mix.o * x.o.value;
  r.e = 0.5 * x.f.e + mix.j * x.j.e + mix.p * x.p.e + mix.o * x.o.e;
  r.m = mix.j * x.j.m;
  r.ee = 0.5 * x.f.ee + mix.j * x.j.ee + mix.p * x.p.ee + mix.o * x.o.ee;
  r.em = mix.j * x.j.em;
  r.mm = mix.j * x.j.mm;
  return r;
}

Jet PhaseDiagram::Table::risk(double a, double omega, double e, double m) const {
  return combine(mixture(a, omega), parts(e, m));
}

double PhaseDiagram::Table::bend_positional(double a, double omega) const {
  const Jet r = combine(mixture(a, omega), positional_);
  return r.mm - r.e;
}

double PhaseDiagram::Table::bend_semantic(double a, double omega) const {
  const Jet r = combine(mixture(a, omega), semantic_);
  return r.ee - r.m;
}

double PhaseDiagram::Table::start_balance(double a, double omega) const {
  const Jet r = combine(mixture(a, omega), start_);
  return r.ee - r.mm;
}

double PhaseDiagram::Table::rim_slope(const Mixture& mix, double theta) const {
  const double e = std::cos(theta);
  const double m = std::sin(theta);
  const Jet r = combine(mix, parts(e, m));
  return r.m * e - r.e * m;
}

void PhaseDiagram::Table::add_rim_minima(const Mixture& mix,
                                         std::vector<QuadrantMinimum>& found) const {
  const Jet at_p = combine(mix, positional_);
  const Jet at_s = combine(mix, semantic_);
  const double bend_p = at_p.mm - at_p.e;
  const double bend_s = at_s.ee - at_s.m;
  if (bend_p > 0.0 && at_p.e <= 0.0) found.push_back({1.0, 0.0, at_p.value});
  if (bend_s > 0.0 && at_s.m <= 0.0) found.push_back({0.0, 1.0, at_s.value});
  // Next to the two ends the slopes in theta have the sign of the curvature there.
  double left = bend_p;
  for (int k = 1; k <= rim_cells; ++k) {
    double right = -bend_s;
    if (k < rim_cells) {
      const Jet r = combine(mix, rim_[static_cast<std::size_t>(k - 1)]);
      right = r.m * std::cos(rim_angle(k)) - r.e * std::sin(rim_angle(k));
    }
    if (left < 0.0 && right > 0.0) {
      // The ends themselves are roots; stay a little away from them.
      const double low = std::max(rim_angle(k - 1), 1e-7);
      const double high = std::min(rim_angle(k), 0.5 * std::numbers::pi - 1e-7);
      const auto slope = [&](double theta) { return rim_slope(mix, theta); };
      if (slope(low) < 0.0 && slope(high) > 0.0) {
        const double theta = numerics::bracketed_root(slope, low, high).x;
        const double e = std::cos(theta);
        const double m = std::sin(theta);
        const Jet r = combine(mix, parts(e, m));
        if (radial(r, e, m) <= 0.0) found.push_back({e, m, r.value});
      }
    }
    left = right;
  }
}

/// Runs Newton's method, and keeps the result if it is a minimum inside the quadrant.
void PhaseDiagram::Table::polish(const Mixture& mix, double e, double m,
                                 std::vector<QuadrantMinimum>& found) const {
  for (int step = 0; step < 30; ++step) {
    const Jet r = combine(mix, parts(e, m));
    const double determinant = r.ee * r.mm - r.em * r.em;
    if (!(determinant > 0.0) || !(r.ee > 0.0)) return;
    const double de = (r.mm * r.e - r.em * r.m) / determinant;
    const double dm = (r.ee * r.m - r.em * r.e) / determinant;
    e -= de;
    m -= dm;
    if (e < 0.0 || m < 0.0 || std::hypot(e, m) >= 1.0) return;
    if (std::hypot(de, dm) < 1e-12) {
      found.push_back({e, m, r.value});
      return;
    }
  }
}

/// No minimum was ever found inside the disk. A coarse net, and Newton's method wherever it
/// suggests one, make sure of that for every (a, omega).
void PhaseDiagram::Table::add_inner_minima(const Mixture& mix,
                                           std::vector<QuadrantMinimum>& found) const {
  std::array<double, std::size_t{rings + 1} * std::size_t{spokes + 1}> risk{};
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    const Parts& x = inner_[i];
    risk[i] = combine(mix, x).value;
  }
  const auto at = [&](int i, int k) {
    const int mirrored = k < 0 ? -k : (k > spokes ? 2 * spokes - k : k);
    return risk[static_cast<std::size_t>(i) * (spokes + 1) + static_cast<std::size_t>(mirrored)];
  };
  for (int i = 1; i < rings; ++i) {
    for (int k = 0; k <= spokes; ++k) {
      const double centre = at(i, k);
      if (at(i - 1, k) <= centre || at(i + 1, k) <= centre || at(i, k - 1) <= centre ||
          at(i, k + 1) <= centre) {
        continue;
      }
      const double r = static_cast<double>(i) / rings;
      const double theta = 0.5 * std::numbers::pi * k / spokes;
      polish(mix, r * std::cos(theta), r * std::sin(theta), found);
    }
  }
}

std::vector<QuadrantMinimum> PhaseDiagram::Table::minima(double a, double omega) const {
  const Mixture mix = mixture(a, omega);
  std::vector<QuadrantMinimum> found;
  add_rim_minima(mix, found);
  add_inner_minima(mix, found);
  std::sort(found.begin(), found.end(),
            [](const QuadrantMinimum& x, const QuadrantMinimum& y) { return x.risk < y.risk; });
  return found;
}

QuadrantMinimum PhaseDiagram::Table::valley(double a) const {
  const Mixture mix = mixture(a, 1.0);
  const auto slope = [&](double e) { return combine(mix, parts(e, 0.0)).e; };
  const double tiny = 1e-6;
  double e = 0.0;
  if (slope(tiny) < 0.0) e = slope(1.0) <= 0.0 ? 1.0 : numerics::bracketed_root(slope, tiny, 1.0).x;
  return {e, 0.0, combine(mix, parts(e, 0.0)).value};
}

}  // namespace onset::ssi
