#pragma once

#include <cstddef>
#include <vector>

namespace onset::aim {

/// The eigenvalues of a teacher S = W W^T/sqrt(r d) in large dimension, rho = r/d, as a rule of
/// integration [aim 60]: sum_j weights[j] f(eigenvalues[j]) is the mean of f over the spectrum. The
/// last node is 0, where there is an atom 1 - rho if rho < 1.
struct TeacherLaw {
  std::vector<double> eigenvalues;
  std::vector<double> weights;  ///< add up to 1
};

/// Midpoints in the angle theta, and at 0 what they leave of the mass: f(lambda) - f(0) cancels the
/// pole of the density next to the real axis when rho is close to 1, and the rest is known. So
/// errors fall exponentially with `nodes` at every rho; the last weight may be slightly negative.
[[nodiscard]] TeacherLaw teacher_law(double rho, std::size_t nodes);

/// The ends of the continuous part, (1 -+ sqrt(rho))^2/sqrt(rho).
[[nodiscard]] double min_teacher_eigenvalue(double rho);
[[nodiscard]] double max_teacher_eigenvalue(double rho);

/// The quantiles (i - 1/2)/size, i = 1, .., size, in increasing order; good to 1e-7.
[[nodiscard]] std::vector<double> teacher_quantiles(double rho, std::size_t size);

}  // namespace onset::aim
