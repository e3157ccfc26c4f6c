#pragma once

#include <cstdint>
#include <span>

#include "onset/smi/model/sequence_model.hpp"
#include "smi/learners/overlaps.hpp"

namespace onset::smi {

/// The errors of given weights on a fresh sample: the squared distance of the prediction, summed
/// over its numbers.
struct TestErrors {
  double plugin = 0.0;  ///< the error of y(omega), the weights put through the network
  double bayes = 0.0;   ///< the error of the average of y over N(omega, V)
};

/// Computes them from `points` random fresh samples, drawn as fields: given the overlaps, the
/// teacher's and the student's fields of a fresh sample are jointly Gaussian, whatever the
/// dimension [smi 42]. `covariance` is V over all directions, row by row.
[[nodiscard]] TestErrors test_errors(const SequenceModel& model, const Overlaps& overlaps,
                                     std::span<const double> covariance, std::size_t points,
                                     std::uint64_t seed, std::uint64_t run);

}  // namespace onset::smi
