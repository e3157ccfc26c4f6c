#include "smi/limits/prediction_error.hpp"

#include <cmath>

#include "numerics/gaussian_expectation.hpp"
#include "smi/model/attention_model.hpp"

namespace onset::smi {
namespace {

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

}  // namespace

PredictionErrors prediction_errors(const SequenceModel& model,
                                   const std::vector<numerics::Replicates>& variance,
                                   std::size_t points, std::uint64_t seed, const Context& context) {
  const FieldShape& shape = model.shape();
  const std::size_t rows = shape.fields();
  const auto size = static_cast<std::size_t>(model.prediction_size());
  numerics::ExpectationOptions rule;
  rule.dimensions = static_cast<int>(3 * rows);
  rule.outputs = 2;
  rule.points = points;
  rule.replicates = static_cast<int>(variance.front().size());
  rule.seed = seed;
  const auto integrand = [&](const numerics::NormalBatch& batch, std::span<double> out) {
    std::vector<double> omega(rows), z(rows), other(rows);
    std::vector<double> y_omega(size), y(size), y_other(size);
    for (std::size_t i = 0; i < batch.count; ++i) {
      for (std::size_t b = 0; b < shape.blocks(); ++b) {
        const double v = variance[b][batch.replicate];
        const double known = std::sqrt(1.0 - v);
        const double deviation = std::sqrt(v);
        for (std::size_t row = shape.first(b); row < shape.first(b + 1); ++row) {
          const auto normal = [&](std::size_t d) { return batch.normals[d * batch.count + i]; };
          omega[row] = known * normal(row);
          z[row] = omega[row] + deviation * normal(rows + row);
          other[row] = omega[row] + deviation * normal(2 * rows + row);
        }
      }
      model.prediction(omega, y_omega);
      model.prediction(z, y);
      model.prediction(other, y_other);
      // Both draws serve the plug-in error; their average has the smaller variance.
      out[i] = 0.5 * (squared_distance(y, y_omega) + squared_distance(y_other, y_omega));
      out[batch.count + i] = 0.5 * squared_distance(y, y_other);
    }
  };
  auto means = numerics::gaussian_expectation(rule, integrand, context);
  return {std::move(means[0]), std::move(means[1])};
}

PredictionErrors prediction_errors(const DeepAttention& model,
                                   const std::vector<numerics::Replicates>& variance,
                                   std::size_t points, std::uint64_t seed, const Context& context) {
  return prediction_errors(*attention_model(model), variance, points, seed, context);
}

}  // namespace onset::smi
