#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// Samples of a sequence model, as a learner gets them.
struct Dataset {
  std::size_t samples = 0;
  std::size_t tokens = 0;
  std::size_t dimension = 0;
  /// The white inputs x, sample after sample, token after token: samples x tokens x dimension.
  std::vector<double> inputs;
  /// One row per number of the label: label[row * samples + i].
  std::vector<double> labels;
  /// W*, one row per direction (block after block); empty when it is not known.
  std::vector<double> teacher;

  /// The first `count` samples. Throws InvalidArgument when there are fewer.
  [[nodiscard]] Dataset first(std::size_t count) const;
};

/// A teacher with standard normal weights and samples with standard normal inputs [smi 1]. The same
/// (seed, run) gives the same teacher, and a smaller set has the first samples of a larger one.
[[nodiscard]] Dataset draw_dataset(const SequenceModel& model, std::size_t dimension,
                                   std::size_t samples, std::uint64_t seed, std::uint64_t run,
                                   const Context& context);

/// The number of bytes of a dataset of this size.
[[nodiscard]] double dataset_bytes(const FieldShape& shape, double dimension, double samples);

}  // namespace onset::smi
