#include <cmath>
#include <numbers>

#include "aim/limits/flow/risk/exponential_averages.hpp"
#include "aim/limits/flow/risk/risks.hpp"
#include "aim/limits/flow/risk/sampled_noise.hpp"

namespace onset::aim {
namespace {

/// What cross-entropy needs of a row of softmax scores [aim 65].
struct RowAverages {
  double slope = 0.0;    ///< sum_b w_b E y_b (1 - y_b), w = (2, 1, .., 1)
  double log_sum = 0.0;  ///< E log sum_b exp(beta h_b)
};

RowAverages row_averages(double beta, int tokens, double p, Precision precision) {
  const double deviation = beta * std::sqrt(p);
  const ExponentialGrid grid(std::numbers::sqrt2 * deviation, precision);
  const auto one = exponential_averages(grid.x, deviation, precision);
  const auto two = exponential_averages(grid.x, std::numbers::sqrt2 * deviation, precision);
  const double others = tokens - 1.0;
  RowAverages out;
  for (std::size_t i = 0; i < grid.x.size(); ++i) {
    const double rest = std::pow(one[0][i], tokens - 2);
    out.slope -= grid.step * rest * (2.0 * two[2][i] * one[0][i] + others * one[2][i] * two[0][i]);
    out.log_sum += grid.step * (std::exp(-std::exp(grid.x[i])) - rest * one[0][i] * two[0][i]);
  }
  return out;
}

/// 2 int phi_2 f_1 + (T - 1) int phi_1 f_2: how hardmax labels follow the teacher's scores
/// [aim 64].
double hardmax_slope(int tokens) {
  const auto density = [](double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
  };
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  constexpr double step = 0.05;
  constexpr double half_width = 12.0;
  const double others = tokens - 1.0;
  double sum = 0.0;
  for (double x = -half_width; x < half_width; x += step) {
    const double wide = density(x / std::numbers::sqrt2) / std::numbers::sqrt2;
    const double wide_below = below(x / std::numbers::sqrt2);
    const double rest = std::pow(below(x), tokens - 2);
    const double first = others * density(x) * rest;
    const double second =
        rest * wide +
        (tokens > 2 ? (tokens - 2.0) * density(x) * std::pow(below(x), tokens - 3) * wide_below
                    : 0.0);
    sum += step * (2.0 * wide * first + others * density(x) * second);
  }
  return sum;
}

class ManyCrossEntropyRisk : public Risk {
 public:
  ManyCrossEntropyRisk(const FlowModel& model, Precision precision, std::uint64_t seed)
      : tokens_(model.labels.tokens),
        beta_(model.labels.beta),
        precision_(precision),
        noise_(model, precision, seed) {
    const double norm = model.teacher_norm();
    const double factor = tokens_ * beta_;
    teacher_ = model.labels.channel == &hardmax_channel()
                   ? factor * hardmax_slope(tokens_) / std::sqrt(norm)
                   : factor * beta_ * row_averages(beta_, tokens_, norm, precision).slope;
  }

  [[nodiscard]] Drift drift(const ScoreMoments& m) const override {
    const RowAverages row = row_averages(beta_, tokens_, m.p, precision_);
    return {tokens_ * row.log_sum - teacher_ * m.q, tokens_ * beta_ * beta_ * row.slope, 0.0,
            teacher_};
  }

  [[nodiscard]] GradientNoise noise(const ScoreMoments& m) const override { return noise_.at(m); }
  [[nodiscard]] NoiseGrowth noise_growth() const override { return noise_.growth(); }

 private:
  int tokens_;
  double beta_;
  Precision precision_;
  SampledNoise noise_;
  double teacher_;
};

}  // namespace

std::unique_ptr<const Risk> many_cross_entropy_risk(const FlowModel& model, Precision precision,
                                                    std::uint64_t seed) {
  return std::make_unique<ManyCrossEntropyRisk>(model, precision, seed);
}

}  // namespace onset::aim
