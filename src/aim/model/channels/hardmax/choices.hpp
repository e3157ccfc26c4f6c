#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "onset/core/estimate.hpp"

namespace onset::aim {

/// By how much the most probable choice of a row of a hardmax label is more often right than the
/// one with the largest known score, when a part `unknown` of the variance of every score is not
/// known [aim 38]; by scrambled points, with their error. They differ because the score on the
/// diagonal varies more.
[[nodiscard]] Estimate gain_of_best_choices(double unknown, int tokens, std::uint64_t seed);

/// The column of a row that is most probably the largest, when its scores are known up to parts of
/// variance V, twice that in column `diagonal`.
[[nodiscard]] std::size_t most_probable_choice(const std::vector<double>& known,
                                               std::size_t diagonal, double variance);

}  // namespace onset::aim
