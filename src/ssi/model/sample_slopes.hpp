#pragma once

#include <cstddef>
#include <vector>

#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// What the loss says of some samples.
struct SampleSlopes {
  std::vector<double> loss;   ///< one per sample
  std::vector<double> delta;  ///< dl/dz of the student's fields: tokens x samples
};

/// From the fields of the teacher and of the student, tokens x samples each.
[[nodiscard]] SampleSlopes sample_slopes(const SequenceModel& model, std::size_t samples,
                                         const double* teacher, const double* student);

}  // namespace onset::ssi
