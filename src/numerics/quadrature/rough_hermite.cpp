#include "numerics/quadrature/rough_hermite.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "numerics/parallel.hpp"
#include "numerics/quadrature/panel_moments.hpp"
#include "numerics/quadrature/switch_cuts.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

constexpr double panels_half_width = 10.0;  ///< panels cover +-10 standard deviations
/// The error that a panel may have, relative to the scale; the outer one exceeds what inner
/// integrals leave behind.
constexpr double inner_error = 1e-15;
constexpr double outer_error = 1e-13;
/// The number of halvings of one unit panel after which all its parts are accepted as they are; the
/// difference of the two sums then shows what is left.
constexpr int most_halvings = 120;
constexpr int most_outer_halvings = 40;
/// The values of the other variable at which kinks along the outer axis are looked for.
constexpr std::array<double, 2> elsewhere{0.6180339887, -0.4142135624};

/// Freezes one variable of a function of two.
BatchFunction with_fixed(const BatchFunction& f, std::size_t axis, double at) {
  return {1, f.outputs, [&f, axis, at](std::size_t count, const double* x, double* out) {
            std::vector<double> both(2 * count, at);
            std::copy_n(x, count, both.data() + (1 - axis) * count);
            f.evaluate(count, both.data(), out);
          }};
}

/// Unit panels, cut at the given places.
std::vector<double> panel_edges(std::vector<double> cuts) {
  for (double x = -panels_half_width; x <= panels_half_width; x += 1.0) cuts.push_back(x);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// Every output up to the degree, and the mean of the sum of squares.
MomentLayout line_layout(std::size_t outputs, std::size_t degree) {
  std::vector<std::size_t> orders(outputs, degree + 1);
  orders.push_back(1);
  return MomentLayout(std::move(orders));
}

/// The same over the outer variable, one component for each order k of the inner one.
MomentLayout plane_layout(std::size_t outputs, std::size_t degree) {
  std::vector<std::size_t> orders;
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t k = 0; k <= degree; ++k) orders.push_back(degree + 1 - k);
  }
  orders.push_back(1);
  return MomentLayout(std::move(orders));
}

/// The outputs of f over the scale, and the sum of their squares.
Integrand with_square(const BatchFunction& f, double scale) {
  return [&f, scale](std::size_t count, const double* x, double* values) {
    f.evaluate(count, x, values);
    double* square = values + f.outputs * count;
    std::fill_n(square, count, 0.0);
    for (std::size_t i = 0; i < f.outputs * count; ++i) {
      values[i] /= scale;
      square[i % count] += values[i] * values[i];
    }
  };
}

Moments on_line(const BatchFunction& f, const BatchFunction& switches, std::size_t degree,
                double scale, double error) {
  std::vector<double> cuts;
  add_cuts(switches, panels_half_width, cuts);
  const auto edges = panel_edges(std::move(cuts));
  const Integrand integrand = with_square(f, scale);
  const MomentLayout layout = line_layout(f.outputs, degree);
  Moments total = no_moments(layout);
  add_panels(integrand, layout, {error, most_halvings}, edges, total);
  return total;
}

/// The second variable is integrated inside. Its error may be larger far out, where h_k(x) phi(x)
/// is below exp(-x^2/4).
Moments on_plane(const BatchFunction& f, const BatchFunction& switches, std::size_t degree,
                 double scale, const Context& context) {
  const MomentLayout inside = line_layout(f.outputs, degree);
  const MomentLayout layout = plane_layout(f.outputs, degree);
  const Integrand inner = [&](std::size_t count, const double* points, double* values) {
    for (std::size_t i = 0; i < count; ++i) {
      context.check();
      const auto own = with_fixed(f, 0, points[i]);
      const double error = inner_error * std::exp(0.25 * points[i] * points[i]);
      const auto line = on_line(own, with_fixed(switches, 0, points[i]), degree, scale, error);
      for (std::size_t c = 0; c < layout.components(); ++c) values[c * count + i] = line.fine[c];
    }
  };
  std::vector<double> cuts;
  for (const double y : elsewhere) add_cuts(with_fixed(switches, 1, y), panels_half_width, cuts);
  const auto edges = panel_edges(std::move(cuts));
  std::vector<Moments> parts(edges.size() - 1, no_moments(layout));
  parallel_for(context, parts.size(), [&](std::size_t i) {
    add_panels(inner, layout, {outer_error, most_outer_halvings}, std::span(edges).subspan(i, 2),
               parts[i]);
  });
  for (std::size_t i = 1; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < layout.size(); ++k) {
      parts[0].fine[k] += parts[i].fine[k];
      parts[0].coarse[k] += parts[i].coarse[k];
    }
  }
  return std::move(parts[0]);
}

HermiteProjection projection(const BatchFunction& f, std::size_t degree, double scale,
                             const std::vector<double>& moments) {
  HermiteProjection result{HermiteSeries(f.dimensions, f.outputs, degree), 0.0};
  const MomentLayout layout =
      f.dimensions == 1 ? line_layout(f.outputs, degree) : plane_layout(f.outputs, degree);
  for (std::size_t s = 0; s <= degree; ++s) {
    result.series.for_each(s, [&](std::size_t place, std::span<const std::size_t> k) {
      for (std::size_t o = 0; o < f.outputs; ++o) {
        const std::size_t component = f.dimensions == 1 ? o : o * (degree + 1) + k[1];
        result.series.at(o, place) = scale * moments[layout.first(component) + k[0]];
      }
    });
  }
  result.square = scale * scale * moments.back();
  return result;
}

}  // namespace

HermiteBracket rough_hermite_series(const BatchFunction& f, const BatchFunction& switches,
                                    std::size_t degree, double scale, const Context& context) {
  constexpr std::size_t most = 2;
  if (f.dimensions > most) throw InvalidArgument("dimensions", "allowed: 1 or 2 variables");
  if (!(scale > 0.0)) throw InvalidArgument("scale", "allowed: a positive number");
  const Moments moments = f.dimensions == 1 ? on_line(f, switches, degree, scale, inner_error)
                                            : on_plane(f, switches, degree, scale, context);
  return {projection(f, degree, scale, moments.fine), projection(f, degree, scale, moments.coarse)};
}

}  // namespace onset::numerics
