#include "onset/numerics/rough_hermite.hpp"

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "numerics/switch_cuts.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/parallel.hpp"

namespace onset::numerics {
namespace {

constexpr std::size_t order = 10;    ///< Gauss points of a panel
constexpr double half_width = 10.0;  ///< panels cover +-10 standard deviations
constexpr int deepest = 40;          ///< halvings of a panel
/// What a panel may be wrong by, relative to the scale; the outer one is above what inner integrals
/// leave behind.
constexpr double inner_error = 1e-15;
constexpr double outer_error = 1e-13;
/// What rounding leaves of a panel, relative to the sum of the sizes of its terms.
constexpr double rounding = 2e-15;
/// Halvings of one unit panel after which all its parts are taken as they are: the difference of
/// the two sums then shows what is left.
constexpr int most_halvings = 120;
constexpr int most_outer_halvings = 40;
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

/// The components of an integrand and how many orders of each are wanted.
class Layout {
 public:
  explicit Layout(std::vector<std::size_t> orders) : orders_(std::move(orders)) {
    for (const std::size_t n : orders_) {
      first_.push_back(size_);
      size_ += n;
      most_ = std::max(most_, n);
    }
  }
  [[nodiscard]] std::size_t components() const { return orders_.size(); }
  [[nodiscard]] std::size_t orders(std::size_t component) const { return orders_[component]; }
  [[nodiscard]] std::size_t first(std::size_t component) const { return first_[component]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t most_orders() const { return most_; }

 private:
  std::vector<std::size_t> orders_;
  std::vector<std::size_t> first_;
  std::size_t size_ = 0;
  std::size_t most_ = 0;
};

/// Every output up to the degree, and the mean of the sum of squares.
Layout line_layout(std::size_t outputs, std::size_t degree) {
  std::vector<std::size_t> orders(outputs, degree + 1);
  orders.push_back(1);
  return Layout(std::move(orders));
}

/// The same over the outer variable, one component for each order k of the inner one.
Layout plane_layout(std::size_t outputs, std::size_t degree) {
  std::vector<std::size_t> orders;
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t k = 0; k <= degree; ++k) orders.push_back(degree + 1 - k);
  }
  orders.push_back(1);
  return Layout(std::move(orders));
}

/// h_k at the points of a panel, all of them at once: their roots and quotients are what costs.
class HermiteRows {
 public:
  explicit HermiteRows(std::size_t orders) : rows_(std::max<std::size_t>(orders, 2)) {
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      root_.push_back(std::sqrt(static_cast<double>(k)));
      inverse_.push_back(k > 0 ? 1.0 / root_[k] : 0.0);
    }
  }

  void at(const Points& x) {
    rows_[0].fill(1.0);
    rows_[1] = x;
    for (std::size_t k = 2; k < rows_.size(); ++k) {
      for (std::size_t i = 0; i < order; ++i) {
        rows_[k][i] = (x[i] * rows_[k - 1][i] - root_[k - 1] * rows_[k - 2][i]) * inverse_[k];
      }
    }
    largest_.fill(0.0);
    for (const Points& row : rows_) {
      for (std::size_t i = 0; i < order; ++i) largest_[i] = std::max(largest_[i], std::abs(row[i]));
    }
  }
  [[nodiscard]] const Points& operator[](std::size_t k) const { return rows_[k]; }
  [[nodiscard]] const Points& largest() const { return largest_; }

 private:
  std::vector<Points> rows_;
  std::vector<double> root_;
  std::vector<double> inverse_;
  Points largest_{};
};

struct Effort {
  double error;
  int halvings;
};

/// Integrates h_k(x) phi(x) times every component: component c and order k at
/// [layout.first(c) + k].
class Line {
 public:
  Line(const Integrand& f, const Layout& layout, Effort effort)
      : f_(f),
        layout_(layout),
        effort_(effort),
        values_(layout.components() * order),
        hermite_(layout.most_orders()) {}

  void add(double low, double high, Moments& total) {
    int left = effort_.halvings;
    refine(low, high, gauss(low, high), 0, left, total);
  }

 private:
  struct Panel {
    std::vector<double> sums;
    double size;  ///< of the terms: what rounding is relative to
  };

  [[nodiscard]] Panel gauss(double low, double high) {
    const double half = 0.5 * (high - low);
    Points points;
    for (std::size_t i = 0; i < order / 2; ++i) {
      points[2 * i] = 0.5 * (low + high) - half * Gauss::abscissa()[i];
      points[2 * i + 1] = 0.5 * (low + high) + half * Gauss::abscissa()[i];
    }
    f_(order, points.data(), values_.data());
    hermite_.at(points);
    Panel panel{std::vector<double>(layout_.size(), 0.0), 0.0};
    Points weights;
    for (std::size_t i = 0; i < order; ++i) {
      weights[i] = half * Gauss::weights()[i / 2] * std::exp(-0.5 * points[i] * points[i]) /
                   std::sqrt(2.0 * std::numbers::pi);
    }
    Points largest{};
    for (std::size_t c = 0; c < layout_.components(); ++c) {
      Points terms;
      for (std::size_t i = 0; i < order; ++i) {
        terms[i] = weights[i] * values_[c * order + i];
        largest[i] = std::max(largest[i], std::abs(terms[i]));
      }
      double* row = panel.sums.data() + layout_.first(c);
      for (std::size_t k = 0; k < layout_.orders(c); ++k) {
        const Points& h = hermite_[k];
        for (std::size_t i = 0; i < order; ++i) row[k] += terms[i] * h[i];
      }
    }
    for (std::size_t i = 0; i < order; ++i) panel.size += largest[i] * hermite_.largest()[i];
    return panel;
  }

  void refine(double low, double high, const Panel& whole, int depth, int& left, Moments& total) {
    const double middle = 0.5 * (low + high);
    const Panel first = gauss(low, middle);
    const Panel second = gauss(middle, high);
    double change = 0.0;
    for (std::size_t i = 0; i < whole.sums.size(); ++i) {
      change = std::max(change, std::abs(first.sums[i] + second.sums[i] - whole.sums[i]));
    }
    if (change > effort_.error + rounding * whole.size && depth < deepest && left-- > 0) {
      refine(low, middle, first, depth + 1, left, total);
      refine(middle, high, second, depth + 1, left, total);
      return;
    }
    for (std::size_t i = 0; i < whole.sums.size(); ++i) {
      total.fine[i] += first.sums[i] + second.sums[i];
      total.coarse[i] += whole.sums[i];
    }
  }

  const Integrand& f_;
  const Layout& layout_;
  Effort effort_;
  std::vector<double> values_;
  HermiteRows hermite_;
};

Moments zeros(const Layout& layout) {
  return {std::vector<double>(layout.size(), 0.0), std::vector<double>(layout.size(), 0.0)};
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
  add_cuts(switches, half_width, cuts);
  const auto edges = panel_edges(std::move(cuts));
  const Integrand integrand = with_square(f, scale);
  const Layout layout = line_layout(f.outputs, degree);
  Line line(integrand, layout, {error, most_halvings});
  Moments total = zeros(layout);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) line.add(edges[i], edges[i + 1], total);
  return total;
}

/// The second variable is integrated inside, to an error that counts less far out: h_k(x) phi(x) is
/// below exp(-x^2/4).
Moments on_plane(const BatchFunction& f, const BatchFunction& switches, std::size_t degree,
                 double scale, const Context& context) {
  const Layout inside = line_layout(f.outputs, degree);
  const Layout layout = plane_layout(f.outputs, degree);
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
  for (const double y : elsewhere) add_cuts(with_fixed(switches, 1, y), half_width, cuts);
  const auto edges = panel_edges(std::move(cuts));
  std::vector<Moments> parts(edges.size() - 1, zeros(layout));
  parallel_for(context, parts.size(), [&](std::size_t i) {
    Line(inner, layout, {outer_error, most_outer_halvings}).add(edges[i], edges[i + 1], parts[i]);
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
  const Layout layout =
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
