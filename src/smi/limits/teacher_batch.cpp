#include "smi/limits/teacher_batch.hpp"

#include <algorithm>
#include <cmath>

namespace onset::smi {

namespace {

/// This many fields may be drawn with twice their variance. If there are more, each is widened
/// less, so that the variance of the weights stays the same.
constexpr double wide_fields = 4.0;

/// The variance with which zeta is drawn. At V = 1 the integrand grows like |z|^4, and twice the
/// variance is nearly the best choice; as V falls the integrand flattens.
double wide_variance(double variance, std::size_t fields) {
  return 1.0 + variance * std::min(1.0, wide_fields / static_cast<double>(fields));
}

}  // namespace

int teacher_dimensions(const SequenceModel& model) {
  return 2 * static_cast<int>(model.shape().fields()) + model.noise_size();
}

TeacherBatch teacher_batch(const SequenceModel& model, std::span<const double> variance,
                           const numerics::NormalBatch& normals) {
  const std::size_t count = normals.count;
  const FieldShape& shape = model.shape();
  const std::size_t rows = shape.fields();
  const auto label_rows = static_cast<std::size_t>(model.label_size());
  TeacherBatch batch{std::vector<double>(rows * count), std::vector<double>(rows * count),
                     std::vector<double>(rows * count), std::vector<double>(label_rows * count),
                     std::vector<double>(count, 1.0)};
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t size = shape.size(b);
    const std::size_t first = shape.first(b);
    const double wide = wide_variance(variance[b], rows);
    const double widening = std::sqrt(wide);
    const double deviation = std::sqrt(variance[b]) * widening;
    const double known = std::sqrt(1.0 - variance[b]);
    const std::size_t dimension = 2 * (rows - first - size);  // the last block's come first
    for (std::size_t f = 0; f < size; ++f) {
      const auto noise = normals.dimension(static_cast<int>(dimension + f));
      const auto centre = normals.dimension(static_cast<int>(dimension + size + f));
      const std::size_t row = (first + f) * count;
      for (std::size_t i = 0; i < count; ++i) {
        batch.zeta[row + i] = widening * noise[i];
        batch.omega[row + i] = known * centre[i];
        batch.field[row + i] = known * centre[i] + deviation * noise[i];
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      double norm = 0.0;
      for (std::size_t f = 0; f < size; ++f) {
        const double z = batch.zeta[(first + f) * count + i];
        norm += z * z;
      }
      batch.weight[i] *= std::pow(widening, static_cast<double>(size)) *
                         std::exp(-0.5 * norm * (1.0 - 1.0 / wide));
    }
  }
  const std::size_t noise_rows = static_cast<std::size_t>(model.noise_size());
  const std::span<const double> noise(normals.normals.data() + 2 * rows * count,
                                      noise_rows * count);
  model.labels(count, batch.field, noise, batch.label);
  return batch;
}

}  // namespace onset::smi
