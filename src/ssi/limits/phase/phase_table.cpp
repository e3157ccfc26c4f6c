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

/// P(e) = E p = 1 - exp(-e^2/2) / (2 sqrt 2). [ssi 23]
Jet mean_diagonal(double e) {
  const double scale = std::exp(-0.5 * e * e) / (2.0 * std::numbers::sqrt2);
  Jet p;
  p.value = 1.0 - scale;
  p.e = e * scale;
  p.ee = (1.0 - e * e) * scale;
  return p;
}

double radial(const Jet& r, double e, double m) {
  return r.e * e + r.m * m;
}

}  // namespace

struct PhaseDiagram::Table::Mixture {
  double constant;
  double j;
  double p;

  Mixture(double a, double omega, double square) {
    const double alpha = 1.0 / (1.0 + std::exp(-2.0 * a * a));
    const double start = 1.0 - 1.0 / (2.0 * std::numbers::sqrt2);
    const double both = alpha * alpha + (1.0 - alpha) * (1.0 - alpha);
    const double cross = alpha * start + (1.0 - alpha) * (1.0 - start);
    constant = 0.5 * ((1.0 - omega) * (1.0 - omega) * square + 4.0 * omega * (1.0 - omega) * cross +
                      2.0 * omega * omega * both) -
               2.0 * omega * (1.0 - alpha);
    j = -(1.0 - omega);
    p = -2.0 * omega * (2.0 * alpha - 1.0);
  }
};

PhaseDiagram::Table::Table(CrossSeries series)
    : series_(std::move(series)),
      square_(0.0),
      start_(parts(0.0, 0.0)),
      positional_(parts(1.0, 0.0)),
      semantic_(parts(0.0, 1.0)) {
  square_ = start_.f.value;
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
  const Jet q = series_.cross(e, m);
  const Jet square = series_.square(e);
  x.p = mean_diagonal(e);
  const double p0 = mean_diagonal(0.0).value;
  x.j = {2.0 - 2.0 * p0 - 2.0 * x.p.value + 4.0 * q.value,
         4.0 * q.e - 2.0 * x.p.e,
         4.0 * q.m,
         4.0 * q.ee - 2.0 * x.p.ee,
         4.0 * q.em,
         4.0 * q.mm};
  x.f = {2.0 * (2.0 * square.value - 2.0 * x.p.value + 1.0),
         4.0 * (square.e - x.p.e),
         0.0,
         4.0 * (square.ee - x.p.ee),
         0.0,
         0.0};
  return x;
}

Jet PhaseDiagram::Table::combine(const Mixture& mix, const Parts& x) {
  Jet r;
  r.value = mix.constant + 0.5 * x.f.value + mix.j * x.j.value + mix.p * x.p.value;
  r.e = 0.5 * x.f.e + mix.j * x.j.e + mix.p * x.p.e;
  r.m = mix.j * x.j.m;
  r.ee = 0.5 * x.f.ee + mix.j * x.j.ee + mix.p * x.p.ee;
  r.em = mix.j * x.j.em;
  r.mm = mix.j * x.j.mm;
  return r;
}

Jet PhaseDiagram::Table::risk(double a, double omega, double e, double m) const {
  return combine(Mixture(a, omega, square_), parts(e, m));
}

double PhaseDiagram::Table::bend_positional(double a, double omega) const {
  const Jet r = combine(Mixture(a, omega, square_), positional_);
  return r.mm - r.e;
}

double PhaseDiagram::Table::bend_semantic(double a, double omega) const {
  const Jet r = combine(Mixture(a, omega, square_), semantic_);
  return r.ee - r.m;
}

double PhaseDiagram::Table::start_balance(double a, double omega) const {
  const Jet r = combine(Mixture(a, omega, square_), start_);
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
  std::array<double, (rings + 1) * (spokes + 1)> risk{};
  for (std::size_t i = 0; i < inner_.size(); ++i) {
    const Parts& x = inner_[i];
    risk[i] = mix.constant + 0.5 * x.f.value + mix.j * x.j.value + mix.p * x.p.value;
  }
  const auto at = [&](int i, int k) {
    const int mirrored = k < 0 ? -k : (k > spokes ? 2 * spokes - k : k);
    return risk[static_cast<std::size_t>(i * (spokes + 1) + mirrored)];
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
  const Mixture mix(a, omega, square_);
  std::vector<QuadrantMinimum> found;
  add_rim_minima(mix, found);
  add_inner_minima(mix, found);
  std::sort(found.begin(), found.end(),
            [](const QuadrantMinimum& x, const QuadrantMinimum& y) { return x.risk < y.risk; });
  return found;
}

QuadrantMinimum PhaseDiagram::Table::valley(double a) const {
  const Mixture mix(a, 1.0, square_);
  const auto slope = [&](double e) { return combine(mix, parts(e, 0.0)).e; };
  const double tiny = 1e-6;
  double e = 0.0;
  if (slope(tiny) < 0.0) e = slope(1.0) <= 0.0 ? 1.0 : numerics::bracketed_root(slope, tiny, 1.0).x;
  return {e, 0.0, combine(mix, parts(e, 0.0)).value};
}

}  // namespace onset::ssi
