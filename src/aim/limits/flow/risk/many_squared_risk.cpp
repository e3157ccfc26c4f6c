#include <algorithm>
#include <cmath>
#include <numbers>

#include "aim/limits/flow/risk/exponential_averages.hpp"
#include "aim/limits/flow/risk/risks.hpp"
#include "aim/limits/flow/risk/sampled_noise.hpp"
#include "numerics/linear_algebra/dense.hpp"

namespace onset::aim {
namespace {

using Matrix = std::vector<double>;  ///< x times x' of the grid, row by row

/// L_w^{ij}(x, x') = E g^(i)(x + beta h) g^(j)(x' + beta h') of scores with variance weight w, for
/// the orders that the product of labels and its slopes need [aim 66].
struct LabelProducts {
  Matrix l00, l11, l22, l20, l31;
};

double whole_power(double x, int exponent) {
  double out = 1.0;
  for (int i = 0; i < exponent; ++i) out *= x;
  return out;
}

/// D(p) = E sum_b y_b^2 as an integral over x, and its derivative in p.
struct SelfProduct {
  double value = 0.0;
  double slope = 0.0;
};

class ManySquaredRisk : public Risk {
 public:
  ManySquaredRisk(const FlowModel& model, Precision precision, std::uint64_t seed)
      : tokens_(model.labels.tokens),
        beta_(model.labels.beta),
        norm_(model.teacher_norm()),
        precision_(precision),
        noise_(model, precision, seed),
        teacher_self_(self_product(norm_)) {}

  [[nodiscard]] Drift drift(const ScoreMoments& m) const override {
    const SelfProduct self = self_product(m.p);
    const double widest = beta_ * std::sqrt(2.0 * std::max(m.p, norm_));
    const ExponentialGrid grid(widest, precision_);
    const LabelProducts one = products(grid, 1.0, m);
    const LabelProducts two = products(grid, 2.0, m);
    const double cell = grid.step * grid.step;
    double product = 0.0;
    double by_p = 0.0;
    double by_q = 0.0;
    for (std::size_t i = 0; i < one.l00.size(); ++i) {
      product += cell * integrand(one, two, i);
      const double half = 0.5 * beta_ * beta_;
      by_p += cell * half *
              slope(one, two, i, {one.l20[i], one.l31[i]}, {2.0 * two.l20[i], 2.0 * two.l31[i]});
      by_q += cell * beta_ * beta_ *
              slope(one, two, i, {one.l11[i], one.l22[i]}, {2.0 * two.l11[i], 2.0 * two.l22[i]});
    }
    return {0.5 * tokens_ * (self.value - 2.0 * product + teacher_self_.value),
            tokens_ * (self.slope - 2.0 * by_p), 0.0, tokens_ * by_q};
  }

  [[nodiscard]] GradientNoise noise(const ScoreMoments& m) const override { return noise_.at(m); }
  [[nodiscard]] NoiseGrowth noise_growth() const override { return noise_.growth(); }

 private:
  [[nodiscard]] SelfProduct self_product(double p) const {
    const double deviation = beta_ * std::sqrt(p);
    const double wide = std::numbers::sqrt2 * deviation;
    const ExponentialGrid grid(wide, precision_);
    const auto g = exponential_averages(grid.x, deviation, precision_);
    const auto h = exponential_averages(grid.x, wide, precision_);
    const double others = tokens_ - 1.0;
    const double half = 0.5 * beta_ * beta_;
    SelfProduct out;
    for (std::size_t i = 0; i < grid.x.size(); ++i) {
      const double g0 = g[0][i];
      const double h0 = h[0][i];
      const double g_square = g[2][i] - g[1][i];
      const double h_square = h[2][i] - h[1][i];
      const double g_slope = half * g[2][i];
      const double h_slope = 2.0 * half * h[2][i];
      const double g_square_slope = half * (g[4][i] - g[3][i]);
      const double h_square_slope = 2.0 * half * (h[4][i] - h[3][i]);
      const double rest = whole_power(g0, tokens_ - 2);
      const double less = (tokens_ - 2.0) * whole_power(g0, tokens_ - 3);
      out.value += grid.step * rest * (h_square * g0 + others * g_square * h0);
      out.slope +=
          grid.step * (h_square_slope * rest * g0 + h_square * others * rest * g_slope +
                       others * (g_square_slope * rest * h0 + g_square * less * g_slope * h0 +
                                 g_square * rest * h_slope));
    }
    return out;
  }

  /// The teacher's score is z, the student's a multiple of it and a part of its own, averaged
  /// first.
  [[nodiscard]] LabelProducts products(const ExponentialGrid& grid, double weight,
                                       const ScoreMoments& m) const {
    const double missing = norm_ - m.q;
    const double own =
        beta_ * std::sqrt(weight * std::max(0.0, m.error - missing * missing / norm_));
    const double shared = beta_ * std::sqrt(weight / norm_) * m.q;
    const double teacher = beta_ * std::sqrt(weight * norm_);
    const numerics::Rule rule = exponential_rule(std::max(teacher, std::abs(shared)), precision_);
    const std::size_t count = grid.x.size();
    const std::size_t nodes = rule.nodes.size();
    const ShiftedAverages means(grid, own, std::abs(shared) * rule.nodes.back(), precision_);
    const ShiftedAverages exact(grid, 0.0, teacher * rule.nodes.back(), precision_);
    std::array<Matrix, 4> student;
    std::array<Matrix, 3> labels;
    for (auto& order : student) order.resize(nodes * count);
    for (auto& order : labels) order.resize(nodes * count);
    for (std::size_t k = 0; k < nodes; ++k) {
      for (std::size_t order = 0; order < student.size(); ++order) {
        const std::span<double> row(student[order].data() + k * count, count);
        means.at(order, shared * rule.nodes[k], row);
        for (double& value : row) value *= rule.weights[k];
      }
      for (std::size_t order = 0; order < labels.size(); ++order) {
        exact.at(order, teacher * rule.nodes[k], {labels[order].data() + k * count, count});
      }
    }
    const auto multiply = [&](std::size_t i, std::size_t j) {
      Matrix out(count * count);
      numerics::transpose_multiply({student[i].data(), nodes, count},
                                   {labels[j].data(), nodes, count}, out, {});
      return out;
    };
    return {multiply(0, 0), multiply(1, 1), multiply(2, 2), multiply(2, 0), multiply(3, 1)};
  }

  [[nodiscard]] double integrand(const LabelProducts& one, const LabelProducts& two,
                                 std::size_t i) const {
    return whole_power(one.l00[i], tokens_ - 2) *
           (two.l11[i] * one.l00[i] + (tokens_ - 1.0) * one.l11[i] * two.l00[i]);
  }

  /// Derivatives of L^00 and L^11.
  struct Slopes {
    double l00, l11;
  };

  /// The product rule for the integrand.
  [[nodiscard]] double slope(const LabelProducts& one, const LabelProducts& two, std::size_t i,
                             Slopes d_one, Slopes d_two) const {
    const double others = tokens_ - 1.0;
    const double rest = whole_power(one.l00[i], tokens_ - 2);
    const double less = (tokens_ - 2.0) * whole_power(one.l00[i], tokens_ - 3);
    return d_two.l11 * rest * one.l00[i] + two.l11[i] * others * rest * d_one.l00 +
           others * (d_one.l11 * rest * two.l00[i] + one.l11[i] * less * d_one.l00 * two.l00[i] +
                     one.l11[i] * rest * d_two.l00);
  }

  int tokens_;
  double beta_;
  double norm_;
  Precision precision_;
  SampledNoise noise_;
  SelfProduct teacher_self_;
};

}  // namespace

std::unique_ptr<const Risk> many_squared_risk(const FlowModel& model, Precision precision,
                                              std::uint64_t seed) {
  return std::make_unique<ManySquaredRisk>(model, precision, seed);
}

}  // namespace onset::aim
