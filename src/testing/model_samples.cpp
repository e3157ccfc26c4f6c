#include "testing/model_samples.hpp"

#include <fmt/format.h>

#include <cmath>

namespace onset::testing {

std::size_t normals_per_sample(const smi::SequenceModel& model) {
  return 2 * model.shape().fields() + static_cast<std::size_t>(model.noise_size());
}

ModelSamples make_samples(const smi::SequenceModel& model, std::span<const double> variance,
                          std::span<const double> normals, std::size_t count) {
  const std::vector<std::size_t> block = block_of_field(model.shape());
  const std::size_t rows = block.size() * count;
  ModelSamples out{count, {variance.begin(), variance.end()}, {}, {}, {}, {}, {}};
  out.omega.resize(rows);
  out.field.resize(rows);
  out.zeta.assign(normals.begin() + static_cast<std::ptrdiff_t>(rows),
                  normals.begin() + static_cast<std::ptrdiff_t>(2 * rows));
  out.noise.assign(normals.begin() + static_cast<std::ptrdiff_t>(2 * rows), normals.end());
  for (std::size_t k = 0; k < rows; ++k) {
    const double v = variance[block[k / count]];
    out.omega[k] = std::sqrt(1.0 - v) * normals[k];
    out.field[k] = out.omega[k] + std::sqrt(v) * out.zeta[k];
  }
  out.label = make_labels(model, out, out.field);
  return out;
}

std::vector<double> make_labels(const smi::SequenceModel& model, const ModelSamples& samples,
                                std::span<const double> field) {
  const std::size_t count = samples.count;
  std::vector<double> out(static_cast<std::size_t>(model.label_size()) * count);
  model.labels(count, field, samples.noise, out);
  return out;
}

std::vector<std::size_t> block_of_field(const smi::FieldShape& shape) {
  std::vector<std::size_t> out;
  for (std::size_t b = 0; b < shape.blocks(); ++b) out.insert(out.end(), shape.size(b), b);
  return out;
}

std::string describe(std::span<const double> variance) {
  if (variance.size() == 1) return fmt::format("V = {:g}", variance[0]);
  std::string list;
  for (const double v : variance) list += fmt::format("{}{:g}", list.empty() ? "" : ", ", v);
  return fmt::format("V = ({})", list);
}

}  // namespace onset::testing
