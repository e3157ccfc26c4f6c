#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "onset/smi/model/sequence_model.hpp"

namespace onset::testing {

/// Samples of a model's own law at given variances [smi 13]; arrays run over samples fastest.
struct ModelSamples {
  std::size_t count;
  std::vector<double> variance;  // one per block
  std::vector<double> omega;     // one row per field
  std::vector<double> zeta;      // (z - omega) / sqrt V, one row per field
  std::vector<double> field;     // z
  std::vector<double> noise;     // the label's own normals
  std::vector<double> label;

  [[nodiscard]] smi::PosteriorQuery query(std::uint64_t first_sample = 0,
                                          std::uint64_t replicate = 0) const {
    return {count, label, omega, variance, first_sample, replicate, {}};
  }
};

/// The number of standard normals that one sample takes.
[[nodiscard]] std::size_t normals_per_sample(const smi::SequenceModel& model);

/// Makes samples from normals[d * count + i].
[[nodiscard]] ModelSamples make_samples(const smi::SequenceModel& model,
                                        std::span<const double> variance,
                                        std::span<const double> normals, std::size_t count);

/// The labels of other fields, with the samples' own label noise.
[[nodiscard]] std::vector<double> make_labels(const smi::SequenceModel& model,
                                              const ModelSamples& samples,
                                              std::span<const double> field);

/// The block of every field.
[[nodiscard]] std::vector<std::size_t> block_of_field(const smi::FieldShape& shape);

/// Variances as sentences have them, such as "V = (0.3, 1)".
[[nodiscard]] std::string describe(std::span<const double> variance);

}  // namespace onset::testing
