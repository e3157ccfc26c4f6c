#pragma once

#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/smi/model/sequence_model.hpp"

namespace onset::smi {

/// Hermite weights of a model whose blocks all show at degree 1 or 2, as the layers of attention do
/// [links 32].
struct BlockLeaps {
  /// E|E[z_b | y]|^2, and half of E||E[z_b z_b^T | y] - I||^2: lambda_1^2 and lambda_2^2 of every
  /// block.
  std::vector<Estimate> first, second;
  /// The sum over the blocks of the second.
  Estimate second_sum;
  /// The part of the variance of the prediction, which is the label without noise, that is linear
  /// in z or in products of two fields of a block.
  Estimate plain_first, plain_second;
};

[[nodiscard]] BlockLeaps block_leaps(const SequenceModel& model, std::uint64_t seed,
                                     const Context& context);

/// Roughly the core-seconds of what is seen of predictions, which go with the labels' size.
[[nodiscard]] double plain_leap_seconds(const SequenceModel& model);

}  // namespace onset::smi
