#pragma once

#include <cstdint>
#include <span>

#include "onset/smi/model/sequence_model.hpp"
#include "smi/learners/overlaps.hpp"

namespace onset::smi {

/// Errors on a fresh sample of weights that are what they are: squared distance of the prediction,
/// summed over its numbers.
struct TestErrors {
  double plugin = 0.0;  ///< of y(omega): the weights put through the network
  double bayes = 0.0;   ///< of the average of y over N(omega, V)
};

/// By `points` random fresh samples, drawn as fields: given the overlaps, teacher's and student's
/// fields of a fresh sample are jointly Gaussian, whatever the dimension [smi 42]. `covariance`: V
/// over all directions, row by row.
[[nodiscard]] TestErrors test_errors(const SequenceModel& model, const Overlaps& overlaps,
                                     std::span<const double> covariance, std::size_t points,
                                     std::uint64_t seed, std::uint64_t run);

}  // namespace onset::smi
