#pragma once

#include <span>
#include <string>
#include <vector>

/// Vectorised elementary functions with run-time dispatch. In every function `out` may be `x`
/// itself; sizes must agree. Results are accurate to a few units in the last place, which tests
/// check. An element's result does not depend on its place or its neighbours. Throws
/// InvalidArgument for spans of different sizes and, at the first use, for an ONSET_SIMD that names
/// no level of this CPU.
namespace onset::numerics::simd {

void exp(std::span<const double> x, std::span<double> out);      ///< overflow gives +infinity
void log(std::span<const double> x, std::span<double> out);      ///< 0 gives -infinity
void sigmoid(std::span<const double> x, std::span<double> out);  ///< 1/(1+exp(-x)), no cancellation
/// Inverse of the standard normal distribution function; the same bits on every SIMD level.
void normal_quantile(std::span<const double> probability, std::span<double> out);

/// The instruction set in use, say "AVX2". ONSET_SIMD=<name> in the environment pins another one.
[[nodiscard]] std::string level();
/// The levels that this binary and CPU support, best first.
[[nodiscard]] std::vector<std::string> supported_levels();

}  // namespace onset::numerics::simd
