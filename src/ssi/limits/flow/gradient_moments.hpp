#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/ssi/model/model.hpp"
#include "ssi/limits/flow/overlap_nodes.hpp"

namespace onset::ssi {

/// What is averaged at a node: means of A - m sum delta_i z_i and of B_0 - e sum delta_i z_i,
/// second moments of u = A - m Q and v = B_0 - e Q with Q = sum delta_i z_i - (eta/2)|delta|^2, and
/// V = E|delta|^2. [ssi 18]
enum MomentRow : std::size_t { mean_u, mean_v, uu, uv, vv, variance, moment_rows };

/// How the slopes of the risk are averaged: as E of the gradient, or as E of the loss times the
/// derivative of the density's logarithm. A loss is smoother than its gradient, which suits product
/// rules; but near m = 1 the density becomes singular. [ssi 21]
enum class SlopeMethod { gradient, density };

/// Fields of a batch of points: teacher[i * count + p] and zeta[i * count + p].
struct FieldBatch {
  std::size_t count;
  const double* teacher;
  const double* zeta;
};

/// Adds the moments, for every point of a batch, to out[row * count + p].
void add_gradient_moments(const SequenceModel& model, double rate, OverlapNodes::Node node,
                          SlopeMethod method, const FieldBatch& fields, std::span<double> out);

/// The moments at every node, one table per rule: two product rules (the finer first) for up to two
/// tokens (but not for kinks of one token with a series for the slope), else replicates of
/// scrambled Sobol points: 16, or 64 for one token.
struct MomentTables {
  /// The moments, as values[rule][row * nodes + node].
  std::vector<std::vector<double>> values;
  bool product_rules = false;
  /// R_ee and R_mm at the start, one per product rule; empty for replicates. [ssi 21]
  std::vector<double> curvature_e;
  std::vector<double> curvature_m;
};
[[nodiscard]] MomentTables gradient_moments(const SequenceModel& model, double rate,
                                            const OverlapNodes& nodes, std::uint64_t seed,
                                            const Context& context);

/// Roughly the core-seconds that gradient_moments() takes, for estimates only.
[[nodiscard]] double gradient_moments_seconds(const SequenceModel& model,
                                              const OverlapNodes& nodes);

}  // namespace onset::ssi
