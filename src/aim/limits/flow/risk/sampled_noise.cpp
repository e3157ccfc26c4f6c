#include "aim/limits/flow/risk/sampled_noise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "aim/model/training_loss.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"

namespace onset::aim {
namespace {

/// Scores of a student and its teacher, T x T and symmetric, from T (T + 1) normals.
struct ScorePair {
  std::vector<double> teacher;
  std::vector<double> student;
};

double symmetric_square(const std::vector<double>& slope, std::size_t tokens) {
  double sum = 0.0;
  for (std::size_t a = 0; a < tokens; ++a) {
    for (std::size_t b = 0; b < tokens; ++b) {
      const double entry = 0.5 * (slope[a * tokens + b] + slope[b * tokens + a]);
      sum += entry * entry;
    }
  }
  return sum;
}

}  // namespace

Estimate SampledNoise::estimate(const ScoreMoments& m) const {
  const auto tokens = static_cast<std::size_t>(model_.labels.tokens);
  const double norm = model_.teacher_norm();
  const double missing = norm - m.q;
  const double shared = m.q / std::sqrt(norm);
  const double own = std::sqrt(std::max(0.0, m.error - missing * missing / norm));
  numerics::ExpectationOptions options;
  options.dimensions = static_cast<int>(tokens * (tokens + 1));
  options.points = precision_ == Precision::fine ? 2048 : 512;
  options.seed = precision_ == Precision::fine ? seed_ : seed_ + 1;
  const auto integrand = [&](const numerics::NormalBatch& batch, std::span<double> out) {
    std::vector<double> slope(tokens * tokens);
    ScorePair scores{slope, slope};
    for (std::size_t i = 0; i < batch.count; ++i) {
      int dimension = 0;
      for (std::size_t a = 0; a < tokens; ++a) {
        for (std::size_t b = a; b < tokens; ++b, dimension += 2) {
          const double deviation = a == b ? std::sqrt(2.0) : 1.0;
          const double z = batch.dimension(dimension)[i];
          const double other = batch.dimension(dimension + 1)[i];
          const double teacher = deviation * std::sqrt(norm) * z;
          const double student = deviation * (shared * z + own * other);
          scores.teacher[a * tokens + b] = scores.teacher[b * tokens + a] = teacher;
          scores.student[a * tokens + b] = scores.student[b * tokens + a] = student;
        }
      }
      training_loss(model_.labels, model_.loss, scores.teacher, scores.student, slope);
      out[i] = symmetric_square(slope, tokens);
    }
  };
  const auto replicates = numerics::gaussian_expectation(options, integrand, {});
  return numerics::reduce(replicates.front());
}

Risk::NoiseGrowth SampledNoise::growth() const {
  if (model_.labels.channel == &hardmax_channel()) return {};
  constexpr double small = 1e-6;
  const double norm = model_.teacher_norm();
  const GradientNoise near = at({.p = norm + small, .q = norm, .error = small});
  return {near.symmetric / small, 0.0, 0.0};
}

}  // namespace onset::aim
