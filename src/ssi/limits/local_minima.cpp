#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "onset/numerics/roots.hpp"
#include "onset/ssi/limits/landscape.hpp"

namespace onset::ssi {
namespace {

constexpr int angles = 256;
constexpr int cells = 24;

struct Point {
  double e;
  double m;
};

/// On the rim: dR/dtheta changes from falling to rising, and the risk does not fall inwards.
void add_rim_minima(const Landscape& landscape, std::vector<Point>& found) {
  const auto slope = [&](double theta) {
    const double e = std::cos(theta);
    const double m = std::sin(theta);
    const Jet r = landscape.jet(e, m);
    return r.m * e - r.e * m;
  };
  // Half a step off the axes, where symmetric landscapes have their extrema.
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

/// Newton from a cell centre; kept if it stays in the disk and ends in a minimum.
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
  // Shifted, so that m = 0 lies inside an interval.
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

}  // namespace

std::vector<Minimum> local_minima(const Landscape& landscape, bool positional,
                                  const Context& context) {
  std::vector<Point> found;
  if (positional) {
    add_rim_minima(landscape, found);
    context.check();
    add_inner_minima(landscape, found);
  } else {
    add_line_minima(landscape, found);
  }
  std::vector<Minimum> minima;
  for (const Point& x : found) {
    const bool known = std::any_of(minima.begin(), minima.end(), [&](const Minimum& other) {
      return std::hypot(x.e - other.e, x.m - other.m) < 1e-6;
    });
    if (known) continue;
    // Extrema on an axis are there to rounding.
    const double e = std::abs(x.e) < 1e-9 ? 0.0 : x.e;
    const double m = std::abs(x.m) < 1e-9 ? 0.0 : x.m;
    minima.push_back({e, m, landscape.jet(e, m).value, type_of(e, m)});
  }
  std::sort(minima.begin(), minima.end(), [](const Minimum& a, const Minimum& b) {
    // Mirror images differ by rounding only: compare risks on a grid, then places.
    const auto key = [](const Minimum& x) { return std::llround(1e9 * x.risk); };
    return std::make_tuple(key(a), -a.m, -a.e) < std::make_tuple(key(b), -b.m, -b.e);
  });
  return minima;
}

}  // namespace onset::ssi
