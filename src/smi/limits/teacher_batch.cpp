#include "smi/limits/teacher_batch.hpp"

#include <algorithm>
#include <cmath>

namespace onset::smi {

namespace {

/// Variance with which zeta is drawn. At V = 1 what is averaged grows like |z|^4, and twice the
/// variance is near the best; as V falls the integrand flattens.
double wide_variance(double variance) {
  return 1.0 + variance;
}

}  // namespace

int teacher_dimensions(const DeepAttention& model) {
  return 2 * model.layers * model.tokens;
}

TeacherBatch teacher_batch(const DeepAttention& model, std::span<const double> variance,
                           const numerics::NormalBatch& normals) {
  const std::size_t count = normals.count;
  const auto layers = static_cast<std::size_t>(model.layers);
  const auto tokens = static_cast<std::size_t>(model.tokens);
  const std::size_t rows = layers * tokens;
  TeacherBatch batch{std::vector<double>(rows * count), std::vector<double>(rows * count),
                     std::vector<double>(rows * count), std::vector<double>(tokens * count),
                     std::vector<double>(count, 1.0)};
  for (std::size_t l = 0; l < layers; ++l) {
    const double wide = wide_variance(variance[l]);
    const double widening = std::sqrt(wide);
    const double deviation = std::sqrt(variance[l]) * widening;
    const double known = std::sqrt(1.0 - variance[l]);
    const std::size_t first = 2 * tokens * (layers - 1 - l);
    for (std::size_t t = 0; t < tokens; ++t) {
      const auto noise = normals.dimension(static_cast<int>(first + t));
      const auto centre = normals.dimension(static_cast<int>(first + tokens + t));
      const std::size_t row = (l * tokens + t) * count;
      for (std::size_t i = 0; i < count; ++i) {
        batch.zeta[row + i] = widening * noise[i];
        batch.omega[row + i] = known * centre[i];
        batch.field[row + i] = known * centre[i] + deviation * noise[i];
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      double norm = 0.0;
      for (std::size_t t = 0; t < tokens; ++t) {
        const double z = batch.zeta[(l * tokens + t) * count + i];
        norm += z * z;
      }
      batch.weight[i] *=
          std::pow(widening, model.tokens) * std::exp(-0.5 * norm * (1.0 - 1.0 / wide));
    }
  }
  std::vector<double> fields(rows);
  std::vector<double> h(tokens);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t row = 0; row < rows; ++row) fields[row] = batch.field[row * count + i];
    label_field(model, fields, h);
    for (std::size_t t = 0; t < tokens; ++t) batch.label[t * count + i] = h[t];
  }
  return batch;
}

}  // namespace onset::smi
