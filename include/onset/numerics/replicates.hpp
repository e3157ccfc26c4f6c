#pragma once

#include <functional>
#include <span>
#include <vector>

#include "onset/core/estimate.hpp"

namespace onset::numerics {

/// One value per independent replicate of a randomised rule. Replicates are carried whole through a
/// computation and reduced at its end: their scatter is the error, whatever nonlinear steps lie
/// between.
using Replicates = std::vector<double>;

/// The default number of replicates, which gives the error 15 degrees of freedom.
inline constexpr int default_replicates = 16;

[[nodiscard]] double mean(std::span<const double> values);

/// The mean and its standard error. A non-zero `bias_bound` (a systematic error that scatter
/// cannot show) is added in quadrature. Throws InvalidArgument for fewer than two values.
[[nodiscard]] Estimate reduce(std::span<const double> values, double bias_bound = 0.0);

/// The mean over independent runs, with its standard error times Student's factor: few runs know
/// their own scatter badly, yet the interval of one error still covers 68 %. The error of a single
/// run is unknown and NaN. Throws InvalidArgument if there is no value.
[[nodiscard]] Estimate mean_over_runs(std::span<const double> values);

/// f applied to every replicate.
[[nodiscard]] Replicates map(std::span<const double> values,
                             const std::function<double(double)>& f);

}  // namespace onset::numerics
