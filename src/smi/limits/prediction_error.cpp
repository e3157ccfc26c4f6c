#include "smi/limits/prediction_error.hpp"

#include <cmath>

#include "numerics/quadrature/gaussian_expectation.hpp"
#include "smi/model/attention_model.hpp"

namespace onset::smi {
namespace {

/// The squared distance of sample i's predictions.
double squared_distance(const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t count, std::size_t i) {
  double sum = 0.0;
  for (std::size_t k = i; k < a.size(); k += count) sum += (a[k] - b[k]) * (a[k] - b[k]);
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
    const std::size_t count = batch.count;
    std::vector<double> omega(rows * count), z(rows * count), other(rows * count);
    for (std::size_t b = 0; b < shape.blocks(); ++b) {
      const double v = variance[b][batch.replicate];
      const double known = std::sqrt(1.0 - v);
      const double deviation = std::sqrt(v);
      const std::size_t begin = shape.first(b) * count, end = shape.first(b + 1) * count;
      for (std::size_t at = begin; at < end; ++at) {
        omega[at] = known * batch.normals[at];
        z[at] = omega[at] + deviation * batch.normals[rows * count + at];
        other[at] = omega[at] + deviation * batch.normals[2 * rows * count + at];
      }
    }
    std::vector<double> y_omega(size * count), y(size * count), y_other(size * count);
    model.predictions(count, omega, y_omega);
    model.predictions(count, z, y);
    model.predictions(count, other, y_other);
    for (std::size_t i = 0; i < count; ++i) {
      // Both draws serve the plug-in error; their average has the smaller variance.
      out[i] = 0.5 * (squared_distance(y, y_omega, count, i) +
                      squared_distance(y_other, y_omega, count, i));
      out[count + i] = 0.5 * squared_distance(y, y_other, count, i);
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
