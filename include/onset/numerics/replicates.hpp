#pragma once

#include <cstdint>
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

/// Mean and standard error of the mean. A non-zero `bias_bound` (a systematic error that scatter
/// cannot show) is added in quadrature. Values that agree to rounding are exact: their error is 0.
/// Throws InvalidArgument for fewer than two values.
[[nodiscard]] Estimate reduce(std::span<const double> values, double bias_bound = 0.0);

/// Mean over independent runs with its standard error times Student's factor: few runs know their
/// own scatter badly, and the interval of one error still covers 68 %. The error of one run is not
/// known: NaN. Runs that end in two ways far apart (learned or not) are for their callers to tell
/// apart: a mean over each kind, and the fraction of each. Few runs may all be of one kind, and
/// their scatter then says nothing about the other. Throws InvalidArgument for no value.
[[nodiscard]] Estimate mean_over_runs(std::span<const double> values);

/// The fraction of `hits` among independent trials, with its binomial error: that of one hit and
/// one miss more (Laplace), so that it is not 0 where all trials agree. Averaged over all
/// fractions, one error covers 74 % for four trials, 72 % for eight and 68 % for many. Throws
/// InvalidArgument for no trial.
[[nodiscard]] Estimate binomial_fraction(std::int64_t hits, std::int64_t trials);

/// f applied to every replicate.
[[nodiscard]] Replicates map(std::span<const double> values,
                             const std::function<double(double)>& f);

}  // namespace onset::numerics
