#pragma once

#include <array>
#include <span>

namespace onset::aim {

/// Hardmax labels of three tokens whose six scores are known to be N(omega, variance)
/// independently [aim 35]: the probability Z of `label` (column of the largest entry of each row),
/// and in `gradient` the derivatives of log Z with respect to omega. Spans have six elements
/// (score_index). The result is good to some 1e-8 of Z and takes some 50 microseconds. Z underflows
/// to 0 for labels that contradict omega by more than 35 standard deviations; the gradient is NaN
/// there.
double three_token_label(const std::array<int, 3>& label, std::span<const double> omega,
                         std::span<const double> variance, std::span<double> gradient);

}  // namespace onset::aim
