#include "onset/numerics/rough_hermite.hpp"

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/numerics/roots.hpp"

namespace onset::numerics {
namespace {

constexpr std::size_t order = 10;    ///< Gauss points of a panel
constexpr double half_width = 10.0;  ///< panels cover +-10 standard deviations
constexpr int deepest = 40;          ///< halvings of a panel
/// What a panel may be wrong by, relative to the scale; the outer one is above what inner integrals
/// leave behind.
constexpr double inner_error = 1e-15;
constexpr double outer_error = 1e-13;
/// Steps in which switches are watched, off the places where people put kinks.
constexpr double watch_step = 0.0957;
/// Where the other variable is while kinks along the outer axis are looked for.
constexpr std::array<double, 2> elsewhere{0.6180339887, -0.4142135624};

using Gauss = boost::math::quadrature::gauss<double, order>;
using Points = std::array<double, order>;

/// A function on a line: values[c * count + i] of its components at points.
using Integrand = std::function<void(std::size_t count, const double* points, double* values)>;

/// Freezes one variable of a function of two.
BatchFunction with_fixed(const BatchFunction& f, std::size_t axis, double at) {
  return {1, f.outputs, [&f, axis, at](std::size_t count, const double* x, double* out) {
            std::vector<double> both(2 * count, at);
            std::copy_n(x, count, both.data() + (1 - axis) * count);
            f.evaluate(count, both.data(), out);
          }};
}

/// A place in (low, high) where f has changed sign from both ends, if its extremum lies beyond 0.
template <class Function>
std::optional<double> other_side(const Function& f, double low, double high) {
  constexpr double golden = 0.6180339887498949;
  const double sign = f(low) > 0.0 ? 1.0 : -1.0;
  for (int step = 0; step < 60; ++step) {
    const double left = high - golden * (high - low);
    const double right = low + golden * (high - low);
    const double at_left = sign * f(left);
    const double at_right = sign * f(right);
    if (at_left < 0.0) return left;
    if (at_right < 0.0) return right;
    (at_left < at_right ? high : low) = at_left < at_right ? right : left;
  }
  return std::nullopt;
}

/// Adds the places on the line where a switch changes sign, also twice within a step.
void add_cuts(const BatchFunction& switches, std::vector<double>& cuts) {
  if (switches.outputs == 0) return;
  std::vector<double> grid;
  for (double x = -half_width; x <= half_width; x += watch_step) grid.push_back(x);
  const std::size_t n = grid.size();
  std::vector<double> values(switches.outputs * n);
  switches.evaluate(n, grid.data(), values.data());
  std::vector<double> here(switches.outputs);
  for (std::size_t k = 0; k < switches.outputs; ++k) {
    const auto value = [&](double x) {
      switches.evaluate(1, &x, here.data());
      return here[k];
    };
    const auto cut = [&](double low, double high) {
      cuts.push_back(bracketed_root(value, low, high).x);
    };
    const double* v = values.data() + k * n;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (v[i] * v[i + 1] < 0.0) {
        cut(grid[i], grid[i + 1]);
      } else if (i > 0 && v[i] * v[i - 1] > 0.0 && std::abs(v[i]) <= std::abs(v[i - 1]) &&
                 std::abs(v[i]) < std::abs(v[i + 1])) {
        const auto middle = other_side(value, grid[i - 1], grid[i + 1]);
        if (!middle) continue;
        cut(grid[i - 1], *middle);
        cut(*middle, grid[i + 1]);
      }
    }
  }
}

/// Unit panels, cut at the given places.
std::vector<double> panel_edges(std::vector<double> cuts) {
  for (double x = -half_width; x <= half_width; x += 1.0) cuts.push_back(x);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

struct Moments {
  std::vector<double> fine;
  std::vector<double> coarse;
};

/// Integrates h_k(x) phi(x) times every component over the line, k = 0, .., degree: component c and
/// order k at [c * (degree + 1) + k].
class Line {
 public:
  Line(const Integrand& f, std::size_t components, std::size_t degree, double error)
      : f_(f),
        components_(components),
        orders_(degree + 1),
        error_(error),
        values_(components * order),
        h_(orders_) {}

  [[nodiscard]] Moments integrate(const std::vector<double>& edges) {
    Moments total{zeros(), zeros()};
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      refine(edges[i], edges[i + 1], gauss(edges[i], edges[i + 1]), 0, total);
    }
    return total;
  }

 private:
  [[nodiscard]] std::vector<double> zeros() const {
    return std::vector<double>(components_ * orders_, 0.0);
  }

  [[nodiscard]] std::vector<double> gauss(double low, double high) {
    const double half = 0.5 * (high - low);
    Points points;
    for (std::size_t i = 0; i < order / 2; ++i) {
      points[2 * i] = 0.5 * (low + high) - half * Gauss::abscissa()[i];
      points[2 * i + 1] = 0.5 * (low + high) + half * Gauss::abscissa()[i];
    }
    f_(order, points.data(), values_.data());
    std::vector<double> sum = zeros();
    for (std::size_t i = 0; i < order; ++i) {
      hermite_polynomials(points[i], h_);
      const double weight = half * Gauss::weights()[i / 2] *
                            std::exp(-0.5 * points[i] * points[i]) /
                            std::sqrt(2.0 * std::numbers::pi);
      for (std::size_t c = 0; c < components_; ++c) {
        const double value = weight * values_[c * order + i];
        double* row = sum.data() + c * orders_;
        for (std::size_t k = 0; k < orders_; ++k) row[k] += value * h_[k];
      }
    }
    return sum;
  }

  void refine(double low, double high, const std::vector<double>& whole, int depth,
              Moments& total) {
    const double middle = 0.5 * (low + high);
    const std::vector<double> left = gauss(low, middle);
    const std::vector<double> right = gauss(middle, high);
    double change = 0.0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      change = std::max(change, std::abs(left[i] + right[i] - whole[i]));
    }
    if (change > error_ && depth < deepest) {
      refine(low, middle, left, depth + 1, total);
      refine(middle, high, right, depth + 1, total);
      return;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
      total.fine[i] += left[i] + right[i];
      total.coarse[i] += whole[i];
    }
  }

  const Integrand& f_;
  std::size_t components_;
  std::size_t orders_;
  double error_;
  std::vector<double> values_;
  std::vector<double> h_;
};

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
                double scale) {
  std::vector<double> cuts;
  add_cuts(switches, cuts);
  const Integrand integrand = with_square(f, scale);
  return Line(integrand, f.outputs + 1, degree, inner_error).integrate(panel_edges(cuts));
}

/// [(output * (degree + 1) + k2) * (degree + 1) + k1]: the second variable is integrated inside.
Moments on_plane(const BatchFunction& f, const BatchFunction& switches, std::size_t degree,
                 double scale) {
  const std::size_t components = (f.outputs + 1) * (degree + 1);
  const Integrand inner = [&](std::size_t count, const double* points, double* values) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto own = with_fixed(f, 0, points[i]);
      const auto line = on_line(own, with_fixed(switches, 0, points[i]), degree, scale);
      for (std::size_t c = 0; c < components; ++c) values[c * count + i] = line.fine[c];
    }
  };
  std::vector<double> cuts;
  for (const double y : elsewhere) add_cuts(with_fixed(switches, 1, y), cuts);
  return Line(inner, components, degree, outer_error).integrate(panel_edges(cuts));
}

HermiteProjection projection(const BatchFunction& f, std::size_t degree, double scale,
                             const std::vector<double>& moments) {
  HermiteProjection result{HermiteSeries(f.dimensions, f.outputs, degree), 0.0};
  const std::size_t n = degree + 1;
  for (std::size_t s = 0; s <= degree; ++s) {
    result.series.for_each(s, [&](std::size_t place, std::span<const std::size_t> k) {
      for (std::size_t o = 0; o < f.outputs; ++o) {
        const std::size_t at = f.dimensions == 1 ? o * n + k[0] : (o * n + k[1]) * n + k[0];
        result.series.at(o, place) = scale * moments[at];
      }
    });
  }
  result.square = scale * scale * moments[f.outputs * (f.dimensions == 1 ? n : n * n)];
  return result;
}

}  // namespace

HermiteBracket rough_hermite_series(const BatchFunction& f, const BatchFunction& switches,
                                    std::size_t degree, double scale) {
  constexpr std::size_t most = 2;
  if (f.dimensions > most) throw InvalidArgument("dimensions", "allowed: 1 or 2 variables");
  if (!(scale > 0.0)) throw InvalidArgument("scale", "allowed: a positive number");
  const Moments moments = f.dimensions == 1 ? on_line(f, switches, degree, scale)
                                            : on_plane(f, switches, degree, scale);
  return {projection(f, degree, scale, moments.fine), projection(f, degree, scale, moments.coarse)};
}

}  // namespace onset::numerics
