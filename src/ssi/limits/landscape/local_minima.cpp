#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "numerics/solvers/roots.hpp"
#include "onset/ssi/limits/landscape.hpp"

namespace onset::ssi {
namespace {

constexpr int angles = 256;
constexpr int cells = 24;

struct Point {
  double e;
  double m;
};

/// Adds minima on the rim, where dR/dtheta changes from falling to rising and the risk does not
/// fall inwards.
void add_rim_minima(const Landscape& landscape, std::vector<Point>& found) {
  const auto slope = [&](double theta) {
    const double e = std::cos(theta);
    const double m = std::sin(theta);
    const Jet r = landscape.jet(e, m);
    return r.m * e - r.e * m;
  };
  // Angles are half a step off the axes, where symmetric landscapes have their extrema.
  const double step = 2.0 * std::numbers::pi / angles;
  double left = slope(-0.5 * step);
  for (int k = 0; k < angles; ++k) {
    const double low = (k - 0.5) * step;
    const double right = slope(low + step);
    if (left < 0.0 && right > 0.0) {
      const double theta = numerics::bracketed_root(slope, low, low + step).x;
      const double e = std::cos(theta);
      const double m = std::sin(theta);
      const Jet r = landscape.jet(e, m);
      if (r.e * e + r.m * m <= 0.0) found.push_back({e, m});
    }
    left = right;
  }
}

/// Runs Newton's method from a cell centre, and keeps the result if it stays in the disk and ends
/// in a minimum.
void polish(const Landscape& landscape, Point x, std::vector<Point>& found) {
  for (int step = 0; step < 30; ++step) {
    const Jet r = landscape.jet(x.e, x.m);
    const double determinant = r.ee * r.mm - r.em * r.em;
    if (!(determinant > 0.0) || !(r.ee > 0.0)) return;
    const double de = (r.mm * r.e - r.em * r.m) / determinant;
    const double dm = (r.ee * r.m - r.em * r.e) / determinant;
    x.e -= de;
    x.m -= dm;
    if (std::hypot(x.e, x.m) >= 1.0) return;
    if (std::hypot(de, dm) < 1e-12) {
      found.push_back(x);
      return;
    }
  }
}

void add_inner_minima(const Landscape& landscape, std::vector<Point>& found) {
  const double h = 2.0 / cells;
  for (int i = 0; i <= cells; ++i) {
    for (int j = 0; j <= cells; ++j) {
      const Point x{-1.0 + i * h, -1.0 + j * h};
      if (std::hypot(x.e, x.m) < 1.0) polish(landscape, x, found);
    }
  }
}

/// Without a positional encoding the disk is the segment e = 0.
void add_line_minima(const Landscape& landscape, std::vector<Point>& found) {
  const auto slope = [&](double m) { return landscape.jet(0.0, m).m; };
  constexpr int steps = 128;
  const double step = 2.0 / steps;
  if (slope(-1.0) > 0.0) found.push_back({0.0, -1.0});
  // The intervals are shifted, so that m = 0 lies inside one.
  double low = -1.0;
  double left = slope(low);
  for (int k = 0; k <= steps; ++k) {
    const double high = std::min(1.0, -1.0 + (k + 0.5) * step);
    const double right = slope(high);
    if (left < 0.0 && right > 0.0) {
      found.push_back({0.0, numerics::bracketed_root(slope, low, high).x});
    }
    low = high;
    left = right;
  }
  if (slope(1.0) < 0.0) found.push_back({0.0, 1.0});
}

/// How far around a minimum the risk has to rise, and in how many directions it is looked at.
constexpr double around = 0.05;
constexpr int directions_around = 16;
/// Rounding of the risk, relative to its size.
constexpr double risk_rounding = 1e-13;

/// Whether the risk rises from x to every place around it on the disk, or segment, by more than its
/// error.
bool is_isolated(const Landscape& landscape, bool positional, Point x) {
  const RiskPoint here = landscape.at(x.e, x.m);
  for (int k = 0; k < directions_around; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / directions_around;
    double e = positional ? x.e + around * std::cos(angle) : 0.0;
    double m = x.m + around * std::sin(angle);
    // A place beyond the rim is replaced by one on it.
    const double radius = std::hypot(e, m);
    if (radius > 1.0) {
      e /= radius;
      m /= radius;
    }
    if (std::hypot(e - x.e, m - x.m) < 0.3 * around) continue;
    const double there = landscape.jet(e, m).value;
    const double doubt = 3.0 * here.risk.error + risk_rounding * std::abs(here.risk.value);
    if (!(there - here.risk.value > doubt)) return false;
  }
  return true;
}

/// The curvature of the risk along the rim, or its least curvature inside (along m without e).
double bend(const Landscape& landscape, bool positional, Point x) {
  const Jet r = landscape.jet(x.e, x.m);
  if (!positional) return r.mm;
  if (std::hypot(x.e, x.m) > 1.0 - 1e-9) {
    return r.ee * x.m * x.m - 2.0 * r.em * x.e * x.m + r.mm * x.e * x.e - (r.e * x.e + r.m * x.m);
  }
  return 0.5 * (r.ee + r.mm) - std::hypot(0.5 * (r.ee - r.mm), r.em);
}

/// A coordinate that its error tells from 0, or 0. One that is hardly known is left as it is.
double beyond_error(const Estimate& x) {
  constexpr double errors = 3.0;
  constexpr double hardly_known = 0.05;
  return x.error < hardly_known && std::abs(x.value) <= errors * x.error ? 0.0 : x.value;
}

Minimum describe(const Landscape& landscape, bool positional, Point x) {
  RiskPoint here = landscape.at(x.e, x.m);
  const bool rim = std::hypot(x.e, x.m) > 1.0 - 1e-9;
  const double slope = std::hypot(here.slope_e.error, here.slope_m.error);
  const double curvature = std::max(bend(landscape, positional, x), 1e-12);
  const double shift = std::min(1.0, slope / curvature);
  // The minimum may be that far away, and the risk there smaller.
  here.risk.error = std::hypot(here.risk.error, 0.5 * curvature * shift * shift);
  // At the end of a segment, and on an axis of the rim, there is no doubt about the place.
  const double along_e = !positional || x.e == 0.0 ? 0.0 : (rim ? std::abs(x.m) : 1.0);
  const double along_m = x.m == 0.0 ? 0.0 : (rim ? std::abs(x.e) : 1.0);
  const Estimate e{x.e, shift * along_e};
  const Estimate m{x.m, shift * along_m};
  return {e, m, here.risk, type_of(beyond_error(e), beyond_error(m))};
}

/// Moves extrema that are on an axis up to rounding exactly onto it.
Point on_axes(Point x) {
  return {std::abs(x.e) < 1e-9 ? 0.0 : x.e, std::abs(x.m) < 1e-9 ? 0.0 : x.m};
}

}  // namespace

LocalMinima local_minima(const Landscape& landscape, bool positional, const Context& context) {
  std::vector<Point> found;
  if (positional) {
    add_rim_minima(landscape, found);
    context.check();
    add_inner_minima(landscape, found);
    // Newton's method does not find places where the risk rises like a higher power.
    const RiskPoint start = landscape.at(0.0, 0.0);
    const double slope = std::hypot(start.slope_e.value, start.slope_m.value);
    if (slope <= 1e-9) found.push_back({0.0, 0.0});
  } else {
    add_line_minima(landscape, found);
  }
  LocalMinima minima;
  std::vector<Point> known;
  for (const Point& raw : found) {
    const Point x = on_axes(raw);
    const bool again = std::any_of(known.begin(), known.end(), [&](const Point& other) {
      return std::hypot(x.e - other.e, x.m - other.m) < 1e-6;
    });
    if (again) continue;
    known.push_back(x);
    if (is_isolated(landscape, positional, x)) {
      minima.list.push_back(describe(landscape, positional, x));
    } else if (x.e != 0.0 || x.m != 0.0) {
      minima.valley = true;
    }
  }
  std::sort(minima.list.begin(), minima.list.end(), [](const Minimum& a, const Minimum& b) {
    // Mirror images differ by rounding only: compare risks on a grid, then places.
    const auto key = [](const Minimum& x) { return std::llround(1e9 * x.risk.value); };
    return std::make_tuple(key(a), -a.m.value, -a.e.value) <
           std::make_tuple(key(b), -b.m.value, -b.e.value);
  });
  return minima;
}

}  // namespace onset::ssi
