#include "numerics/quadrature/panel_moments.hpp"

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

namespace onset::numerics {
namespace {

constexpr std::size_t order = 10;  ///< the number of Gauss points of a panel
constexpr int deepest = 40;        ///< the most times that a panel is halved
/// The rounding error of a panel, relative to the sum of the sizes of its terms.
constexpr double rounding = 2e-15;

using Gauss = boost::math::quadrature::gauss<double, order>;
using Points = std::array<double, order>;

/// h_k at all points of a panel at once, since its roots and quotients are what costs.
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

/// Integrates h_k(x) phi(x) times every component: component c and order k at
/// [layout.first(c) + k].
class Line {
 public:
  Line(const Integrand& f, const MomentLayout& layout, PanelEffort effort)
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
    double size;  ///< the size of the terms, which rounding is relative to
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
  const MomentLayout& layout_;
  PanelEffort effort_;
  std::vector<double> values_;
  HermiteRows hermite_;
};

}  // namespace

Moments no_moments(const MomentLayout& layout) {
  return {std::vector<double>(layout.size(), 0.0), std::vector<double>(layout.size(), 0.0)};
}

void add_panels(const Integrand& f, const MomentLayout& layout, PanelEffort effort,
                std::span<const double> edges, Moments& total) {
  Line line(f, layout, effort);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) line.add(edges[i], edges[i + 1], total);
}

}  // namespace onset::numerics
