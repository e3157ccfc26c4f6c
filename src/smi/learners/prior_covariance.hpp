#pragma once

#include <span>
#include <vector>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// V of every block: rank_b x rank_b, row by row. Blocks are independent of one another.
using BlockMatrices = std::vector<std::vector<double>>;

/// v I in every block.
[[nodiscard]] BlockMatrices isotropic(const FieldShape& shape, double v);

/// f(matrix): the same eigenvectors, every eigenvalue sent through f.
void map_eigenvalues(std::vector<double>& matrix, std::size_t size, double (*f)(double));

[[nodiscard]] double trace(const std::vector<double>& matrix, std::size_t size);

/// How a prior z_b ~ N(omega_b, V_b (x) I) is made of priors with one variance per block, which is
/// what posteriors answer for: z = omega + s + e with s ~ N(0, V_b - v_b I) summed over nodes and
/// e ~ N(0, v_b I), v_b the least eigenvalue of V_b [smi 47]. One node (s = 0) when all V_b are
/// multiples of I.
struct SmoothedPrior {
  std::vector<double> variance;     ///< v_b
  std::vector<double> log_weights;  ///< of the nodes
  std::vector<double> offsets;      ///< s: node * fields + field
  [[nodiscard]] std::size_t nodes() const { return log_weights.size(); }
};

/// Throws Refused where that would take too many nodes.
[[nodiscard]] SmoothedPrior smoothed_prior(const FieldShape& shape,
                                           const BlockMatrices& covariance);

}  // namespace onset::smi
