#include "aim/model/layers/two_layers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "numerics/simd/vector_math.hpp"

namespace onset::aim {
namespace {

/// Half the side of the first grid in standard deviations of the first layer's fields.
constexpr double grid_radius = 6.4;
/// The first rule's step in these units; a Gaussian of that width is integrated to 1e-13.
constexpr double first_step = 0.8;
constexpr int max_halvings = 7;
/// Two rules that differ by less than this agree. Halving a step squares the error of a trapezoid
/// rule up to a factor, which the second number is well above.
constexpr double agreement = 3e-3;
constexpr double factor_of_squares = 10.0;
/// Nodes whose exponent is below the largest one by more are left out of finer rules.
constexpr double negligible = 28.0;
/// The squared length of fields that are infinite, since A is singular.
constexpr double infinite_length = 1e200;

double determinant(const PairMatrix& c) {
  return c[0] * c[2] - c[1] * c[1];
}

PairMatrix inverse(const PairMatrix& c) {
  const double d = determinant(c);
  return {c[2] / d, -c[1] / d, c[0] / d};
}

/// Nodes first, .., last of a line, in units of the step.
struct NodeRange {
  int first = 0;
  int last = 0;

  /// The same stretch, and one old node more on each side, in half the step.
  [[nodiscard]] NodeRange halved() const { return {2 * (first - 1), 2 * (last + 1)}; }
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(last - first) + 1; }
};

/// One axis of a rule: values of a field, from its mean.
struct Axis {
  double step = 0.0;
  std::vector<double> field;
  std::vector<double> own;  ///< softmax of the field against 0
};

/// Rules for the integral over the first layer's fields, and their buffers.
class FieldGrid {
 public:
  FieldGrid(const TwoLayers& model, const PairFields& shown, const std::array<PairLaw, 2>& laws)
      : model_(model), shown_(shown), laws_(laws) {
    const int side = static_cast<int>(std::lround(grid_radius / first_step));
    ranges_ = {NodeRange{-side, side}, NodeRange{-side, side}};
  }

  /// The moments by a rule of this step (in standard deviations) over the nodes that matter.
  TwoLayerMoments integrate(double step) {
    const auto& c = laws_[0].covariance;
    const Axis x = axis(ranges_[0], laws_[0].mean[0], std::sqrt(c[0]) * step);
    const Axis y = axis(ranges_[1], laws_[0].mean[1], std::sqrt(c[2]) * step);
    const std::size_t nodes = x.field.size() * y.field.size();
    for (auto* buffer : {&exponents_, &factors_, &second_x_, &second_y_}) buffer->resize(nodes);
    for (std::size_t j = 0; j < y.field.size(); ++j) fill_row(x, y, j);
    const double top = *std::max_element(exponents_.begin(), exponents_.end());
    for (double& e : exponents_) e -= top;
    const std::array<NodeRange, 2> kept = nodes_that_matter();
    numerics::simd::exp(exponents_, exponents_);
    const TwoLayerMoments m = moments(x, y, top);
    ranges_ = {kept[0].halved(), kept[1].halved()};
    return m;
  }

 private:
  [[nodiscard]] Axis axis(const NodeRange& range, double mean, double step) const {
    Axis a;
    a.step = step;
    for (int i = range.first; i <= range.last; ++i) a.field.push_back(i * step);
    for (const double f : a.field) a.own.push_back(model_.beta * (mean + f));
    numerics::simd::sigmoid(a.own, a.own);
    return a;
  }

  /// The logarithm of the density of the first layer's fields and of those of the second that the
  /// label then fixes, and the factor 1/|det A| [aim 44].
  void fill_row(const Axis& x, const Axis& y, std::size_t j) {
    const std::size_t count = x.field.size();
    const PairMatrix p = inverse(laws_[0].covariance);
    const PairMatrix r = inverse(laws_[1].covariance);
    const double c = model_.skip;
    const double field = y.field[j];
    const double other = y.own[j];
    const auto [t1, t2] = shown_;
    const auto [w1, w2] = laws_[1].mean;
    for (std::size_t i = 0; i < count; ++i) {
      const double gap = x.own[i] + other + c - 1.0;
      const double over = 1.0 / gap;
      const double scale = over * over / (1.0 + c);
      const double a = ((c + other) * t1 + (1.0 - x.own[i]) * t2) * scale - w1;
      const double b = ((1.0 - other) * t1 + (c + x.own[i]) * t2) * scale - w2;
      const double f = x.field[i];
      const double length = p[0] * f * f + 2.0 * p[1] * f * field + p[2] * field * field +
                            r[0] * a * a + 2.0 * r[1] * a * b + r[2] * b * b;
      const std::size_t at = j * count + i;
      const bool possible = length < infinite_length;
      exponents_[at] = possible ? -0.5 * length : -infinite_length;
      factors_[at] = possible ? std::abs(over * over * over) : 0.0;
      second_x_[at] = possible ? a : 0.0;
      second_y_[at] = possible ? b : 0.0;
    }
  }

  [[nodiscard]] std::array<NodeRange, 2> nodes_that_matter() const {
    const std::size_t count = ranges_[0].count();
    std::array<NodeRange, 2> kept{NodeRange{ranges_[0].last, ranges_[0].first},
                                  NodeRange{ranges_[1].last, ranges_[1].first}};
    for (std::size_t at = 0; at < exponents_.size(); ++at) {
      if (exponents_[at] < -negligible) continue;
      const std::array<int, 2> node{ranges_[0].first + static_cast<int>(at % count),
                                    ranges_[1].first + static_cast<int>(at / count)};
      for (std::size_t k = 0; k < 2; ++k) {
        kept[k] = {std::min(kept[k].first, node[k]), std::max(kept[k].last, node[k])};
      }
    }
    return kept;
  }

  /// Sums of weights, of fields from their means, and of their squares and products.
  struct Sums {
    double all = 0.0;
    PairFields mean{};
    PairMatrix square{};

    void add(double weight, double a, double b) {
      all += weight;
      mean[0] += weight * a;
      mean[1] += weight * b;
      square[0] += weight * a * a;
      square[1] += weight * a * b;
      square[2] += weight * b * b;
    }
    /// tr C^-1 Var.
    [[nodiscard]] double spread(const PairMatrix& covariance) const {
      const PairMatrix p = inverse(covariance);
      const PairFields m{mean[0] / all, mean[1] / all};
      return p[0] * (square[0] / all - m[0] * m[0]) + 2.0 * p[1] * (square[1] / all - m[0] * m[1]) +
             p[2] * (square[2] / all - m[1] * m[1]);
    }
  };

  [[nodiscard]] TwoLayerMoments moments(const Axis& x, const Axis& y, double top) const {
    std::array<Sums, 2> sums;
    const std::size_t count = x.field.size();
    for (std::size_t j = 0; j < y.field.size(); ++j) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = j * count + i;
        const double weight = exponents_[at] * factors_[at];
        sums[0].add(weight, x.field[i], y.field[j]);
        sums[1].add(weight, second_x_[at], second_y_[at]);
      }
    }
    TwoLayerMoments m;
    const double all = sums[0].all;
    for (std::size_t l = 0; l < 2; ++l) {
      for (std::size_t k = 0; k < 2; ++k) {
        m.mean[l][k] = laws_[l].mean[k] + sums[l].mean[k] / all;
      }
      m.unknown[l] = sums[l].spread(laws_[l].covariance);
    }
    const double norm =
        4.0 * std::numbers::pi * std::numbers::pi * (1.0 + model_.skip) *
        std::sqrt(determinant(laws_[0].covariance) * determinant(laws_[1].covariance));
    m.log_density = top + std::log(all * x.step * y.step / norm);
    return m;
  }

  const TwoLayers& model_;
  const PairFields& shown_;
  const std::array<PairLaw, 2>& laws_;
  std::array<NodeRange, 2> ranges_;
  std::vector<double> exponents_;
  std::vector<double> factors_;
  std::vector<double> second_x_;  ///< the second layer's fields from their mean
  std::vector<double> second_y_;
};

double difference(const TwoLayerMoments& a, const TwoLayerMoments& b,
                  const std::array<PairLaw, 2>& laws) {
  double most = std::abs(a.log_density - b.log_density);
  for (std::size_t l = 0; l < 2; ++l) {
    const PairFields move{a.mean[l][0] - b.mean[l][0], a.mean[l][1] - b.mean[l][1]};
    most = std::max({most, std::sqrt(squared_length(move, laws[l].covariance)),
                     std::abs(a.unknown[l] - b.unknown[l])});
  }
  return most;
}

}  // namespace

PairFields solve(const PairMatrix& c, const PairFields& x) {
  const double d = determinant(c);
  return {(c[2] * x[0] - c[1] * x[1]) / d, (c[0] * x[1] - c[1] * x[0]) / d};
}

double squared_length(const PairFields& x, const PairMatrix& covariance) {
  const PairFields y = solve(covariance, x);
  return x[0] * y[0] + x[1] * y[1];
}

PairFields TwoLayers::shown(const PairFields& first, const PairFields& second) const {
  const double one = 1.0 / (1.0 + std::exp(-beta * first[0]));
  const double two = 1.0 / (1.0 + std::exp(-beta * first[1]));
  const double gap = one + two + skip - 1.0;
  return {gap * ((skip + one) * second[0] - (1.0 - one) * second[1]),
          gap * ((skip + two) * second[1] - (1.0 - two) * second[0])};
}

TwoLayerMoments two_layer_posterior(const TwoLayers& model, const PairFields& shown,
                                    const std::array<PairLaw, 2>& laws) {
  FieldGrid grid(model, shown, laws);
  double step = first_step;
  TwoLayerMoments coarse = grid.integrate(step);
  for (int halvings = 1;; ++halvings) {
    step *= 0.5;
    TwoLayerMoments fine = grid.integrate(step);
    const double change = difference(fine, coarse, laws);
    fine.error = std::min(change, factor_of_squares * change * change);
    if (change < agreement || halvings == max_halvings) return fine;
    coarse = fine;
  }
}

}  // namespace onset::aim
