#pragma once

#include <cstddef>
#include <vector>

namespace onset::aim {

/// The eigenvalues of a teacher S = W W^T/sqrt(r d) in large dimension, rho = r/d, as a rule of
/// integration [aim 60]: sum_j weights[j] f(eigenvalues[j]) is the mean of f over the spectrum. The
/// atom 1 - rho at 0, if rho < 1, is the last node.
struct TeacherLaw {
  std::vector<double> eigenvalues;
  std::vector<double> weights;  ///< add up to 1
};

/// Midpoints in the angle theta: errors fall exponentially with `nodes`, at rho = 1 too.
[[nodiscard]] TeacherLaw teacher_law(double rho, std::size_t nodes);

/// The ends of the continuous part, (1 -+ sqrt(rho))^2/sqrt(rho).
[[nodiscard]] double min_teacher_eigenvalue(double rho);
[[nodiscard]] double max_teacher_eigenvalue(double rho);

/// The quantiles (i - 1/2)/size, i = 1, .., size, in increasing order; good to 1e-7.
[[nodiscard]] std::vector<double> teacher_quantiles(double rho, std::size_t size);

}  // namespace onset::aim
