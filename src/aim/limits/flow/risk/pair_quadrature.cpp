#include "aim/limits/flow/risk/pair_quadrature.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/simd/vector_math.hpp"
#include "onset/numerics/hermite.hpp"

namespace onset::aim {
namespace {

struct RuleSizes {
  double max_step;
  double step_times_slope;
  double half_width;
  std::size_t degree;  ///< of Hermite series, whose terms fall like 3^-k and faster
};

/// The fine rule is good to rounding: the trapezoid errs by exp(-2 pi^2/0.55), the end by
/// exp(-8.8^2/2). The coarse one is good to about 1e-11.
RuleSizes sizes(Precision precision) {
  return precision == Precision::fine ? RuleSizes{0.15, 0.55, 8.8, 29}
                                      : RuleSizes{0.2, 0.75, 7.5, 21};
}

std::vector<std::vector<double>> hermite_table(const numerics::Rule& rule, std::size_t degree) {
  std::vector<std::vector<double>> table;
  for (const double z : rule.nodes) {
    table.emplace_back(degree + 1);
    numerics::hermite_polynomials(z, table.back());
  }
  return table;
}

}  // namespace

numerics::Rule sigmoid_rule(double slope, Precision precision) {
  const RuleSizes size = sizes(precision);
  const double step = std::min(size.max_step, size.step_times_slope / slope);
  return numerics::normal_trapezoid(step, size.half_width);
}

double sigmoid_mean(double slope, Precision precision, const std::function<double(double)>& f) {
  const numerics::Rule rule = sigmoid_rule(slope, precision);
  double sum = 0.0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) sum += rule.weights[i] * f(rule.nodes[i]);
  return sum;
}

double sigmoid(double x) {
  return x > 0.0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
}

double correlated_mean(double slope, double r, Precision precision,
                       const std::function<double(double)>& f) {
  const numerics::Rule rule = sigmoid_rule(slope, precision);
  const std::size_t terms = 2 * sizes(precision).degree;
  std::vector<double> coefficients(terms, 0.0);
  std::vector<double> h(terms);
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    numerics::hermite_polynomials(rule.nodes[i], h);
    const double value = rule.weights[i] * f(rule.nodes[i]);
    for (std::size_t k = 0; k < terms; ++k) coefficients[k] += value * h[k];
  }
  double sum = 0.0;
  double power = 1.0;
  for (const double c : coefficients) {
    sum += power * c * c;
    power *= r;
  }
  return sum;
}

PairQuadrature::PairQuadrature(const FlowModel& model, Precision precision)
    : beta_(model.labels.beta), teacher_norm_(model.teacher_norm()), precision_(precision) {}

double PairQuadrature::student_slope(const ScoreMoments& m) const {
  return beta_ * std::sqrt(3.0 * m.p + m.anti);
}

double PairQuadrature::teacher_slope() const {
  return beta_ * std::sqrt(3.0 * teacher_norm_);
}

double PairQuadrature::own_variance(const ScoreMoments& m) const {
  const double missing = teacher_norm_ - m.q;
  return std::max(0.0, m.error + m.anti / 3.0 - missing * missing / teacher_norm_);
}

void PairQuadrature::visit(const ScoreMoments& m,
                           const std::function<void(const PairRow&)>& row) const {
  const numerics::Rule rule = sigmoid_rule(std::max(student_slope(m), teacher_slope()), precision_);
  const double shared = beta_ * std::sqrt(3.0 / teacher_norm_) * m.q;
  const double own = beta_ * std::sqrt(3.0 * own_variance(m));
  const std::size_t count = rule.nodes.size();
  std::vector<double> student(count);
  for (std::size_t i = count / 2; i < count; ++i) {
    const double z = rule.nodes[i];
    for (std::size_t k = 0; k < count; ++k) student[k] = shared * z + own * rule.nodes[k];
    numerics::simd::sigmoid(student, student);
    row({.z = z,
         .weight = 2.0 * rule.weights[i],
         .teacher = sigmoid(teacher_slope() * z),
         .nodes = rule.nodes,
         .weights = rule.weights,
         .student = student});
  }
}

GradientNoise PairQuadrature::noise(const ScoreMoments& m,
                                    const std::function<double(double, double)>& g) const {
  const std::size_t terms = sizes(precision_).degree + 1;
  std::vector<double> coefficients(terms * terms, 0.0);
  std::vector<std::vector<double>> table;
  std::vector<double> first(terms);
  std::vector<double> inner(terms);
  double square = 0.0;
  visit(m, [&](const PairRow& row) {
    if (table.empty()) {
      table = hermite_table({{row.nodes.begin(), row.nodes.end()}, {}}, terms - 1);
    }
    std::fill(inner.begin(), inner.end(), 0.0);
    for (std::size_t k = 0; k < row.nodes.size(); ++k) {
      const double value = g(row.student[k], row.teacher);
      square += row.weight * row.weights[k] * value * value;
      const double weighted = row.weights[k] * value;
      for (std::size_t l = 0; l < terms; ++l) inner[l] += weighted * table[k][l];
    }
    numerics::hermite_polynomials(row.z, first);
    for (std::size_t j = 0; j < terms; ++j) {
      for (std::size_t l = 0; l < terms; ++l) {
        coefficients[j * terms + l] += row.weight * first[j] * inner[l];
      }
    }
  });
  // Rows of a label have correlation 1/3 in u*, and less in the part of u that is its own where
  // the scores of (a, b) and (b, a) differ.
  const double own = own_variance(m);
  // It is at least -1; rounding in `own` would say otherwise where there is next to nothing of it.
  const double second =
      own > 0.0 ? std::max(-1.0, 1.0 / 3.0 - 4.0 * m.anti / (9.0 * own)) : 1.0 / 3.0;
  double product = 0.0;
  for (std::size_t j = 0; j < terms; ++j) {
    for (std::size_t l = (j + 1) % 2; l < terms; l += 2) {
      const double c = coefficients[j * terms + l];
      product += c * c * std::pow(1.0 / 3.0, static_cast<double>(j)) *
                 std::pow(second, static_cast<double>(l));
    }
  }
  return {3.0 * square + product, square - product};
}

Risk::NoiseGrowth PairQuadrature::noise_growth(const std::function<double(double)>& f) const {
  const double slope = teacher_slope();
  const auto at = [&](double z) { return f(sigmoid(slope * z)); };
  const double square = sigmoid_mean(slope, precision_, [&](double z) { return at(z) * at(z); });
  const double product = correlated_mean(slope, 1.0 / 3.0, precision_, at);
  const double factor = std::pow(beta_, 4);
  return {factor * (9.0 * square + product), factor * (3.0 * square - product),
          factor * (square + product)};
}

}  // namespace onset::aim
