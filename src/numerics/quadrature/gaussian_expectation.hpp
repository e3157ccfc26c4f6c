#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::numerics {

/// Options of gaussian_expectation().
struct ExpectationOptions {
  int dimensions = 1;
  int outputs = 1;
  std::size_t points = 1024;  ///< points per replicate; a power of two
  int replicates = default_replicates;
  std::uint64_t seed = 1;
  /// Throws InvalidArgument naming the wrong field and what is allowed.
  void validate() const;
};

/// A batch of standard normal points, dimension by dimension.
struct NormalBatch {
  std::size_t count;
  std::size_t replicate;
  std::size_t first;                ///< index of the first point within its replicate
  std::span<const double> normals;  ///< normals[d * count + i]
  [[nodiscard]] std::span<const double> dimension(int d) const {
    return normals.subspan(static_cast<std::size_t>(d) * count, count);
  }
};

/// The integrand: fills out[k * count + i] for output k and point i. Called from several threads.
using BatchIntegrand = std::function<void(const NormalBatch& batch, std::span<double> out)>;

/// The number of points per call of a BatchIntegrand (all points of a replicate that has fewer).
inline constexpr std::size_t batch_size = 256;

/// E f(Z), Z ~ N(0, I), by scrambled Sobol points: result[k] holds the replicate means of output k.
/// The same options give the same points, so that solvers see a deterministic function.
[[nodiscard]] std::vector<Replicates> gaussian_expectation(const ExpectationOptions& options,
                                                           const BatchIntegrand& integrand,
                                                           const Context& context);

/// What control variates leave of the targets, and how much of each control was taken off.
struct ControlledExpectation {
  std::vector<Replicates> target;                ///< target[k]: its replicate means
  std::vector<std::vector<double>> coefficient;  ///< coefficient[k][c], of target k and control c
};

/// As gaussian_expectation, but with control variates: outputs 0..targets-1 are wanted, the others
/// have expectation 0 and are regressed out (coefficients from all points together, which costs a
/// bias of order 1/points). Controls may be zero, as those below 1e-6 in the mean square are taken
/// to be, or depend on one another. Every control is taken at its word: to give one up because its
/// mean happens to be far from 0 would choose the answer by its own noise. A control that is itself
/// an inexact integral of bias b moves target k by -coefficient[k][c] b, for the caller to state.
[[nodiscard]] ControlledExpectation gaussian_expectation_with_controls(
    const ExpectationOptions& options, int targets, const BatchIntegrand& integrand,
    const Context& context);

}  // namespace onset::numerics
