#pragma once

#include <vector>

#include "onset/smi/model/field_shape.hpp"
#include "onset/smi/model/posterior.hpp"

namespace onset::smi {

/// A symmetric matrix over all directions of a model, such as V: row by row.
using DirectionMatrix = std::vector<double>;

/// The matrix v I.
[[nodiscard]] DirectionMatrix isotropic(const FieldShape& shape, double v);

/// Inverts a positive matrix, accurately even where its diagonal spans many orders of magnitude.
/// Returns false and changes nothing where it is not positive or not finite.
[[nodiscard]] bool invert(DirectionMatrix& matrix, std::size_t size);

/// Cuts negative eigenvalues, in units of the roots of V's diagonal: A >= 0 in the Bayes-optimal
/// setting [smi 45].
void cut_negative(DirectionMatrix& matrix, const DirectionMatrix& covariance, std::size_t size);

/// Mean of the eigenvalues of a block of the matrix.
[[nodiscard]] double mean_eigenvalue(const DirectionMatrix& matrix, const FieldShape& shape,
                                     std::size_t block);

/// How a posterior is asked for a prior whose blocks depend on one another.
enum class BetweenBlocks {
  nothing,  ///< not at all: entries of V between blocks are taken as 0 [smi 48]
  nodes,    ///< by sums over priors with independent blocks [smi 47]
  weights,  ///< by weights on its own nodes [smi 86]
  all,      ///< as it is: the posterior takes any covariance
};

[[nodiscard]] BetweenBlocks between_blocks(const Posterior& posterior, const FieldShape& shape);

/// Scales the entries of V between blocks down where they make it nearly singular: so large a
/// correlation is no longer something small that integrals can put on top of independent blocks.
void limit_between(const FieldShape& shape, DirectionMatrix& covariance);

/// How a prior z ~ N(omega, V (x) I) is made of what posteriors answer for, one variance per block:
/// z = omega + s + e, where s is summed over nodes and e has variances v_b and, where the posterior
/// takes one, a coupling [smi 47, 86]. One node (s = 0) when all blocks of V are multiples of I and
/// nothing between them is left to nodes.
struct SmoothedPrior {
  std::vector<double> variance;     ///< v_b
  DirectionMatrix coupling;         ///< K; empty where there is none
  std::vector<double> log_weights;  ///< one per node
  std::vector<double> offsets;      ///< s: node * fields + field
  DirectionMatrix covariance = {};  ///< V itself, for posteriors that take it; v_b are then 1
  [[nodiscard]] std::size_t nodes() const { return log_weights.size(); }
};

/// Throws Refused where that would take too many nodes.
[[nodiscard]] SmoothedPrior smoothed_prior(const FieldShape& shape,
                                           const DirectionMatrix& covariance,
                                           BetweenBlocks between);

}  // namespace onset::smi
