#pragma once

#include "onset/aim/model/choices.hpp"

/// Training on a squared error of the scores themselves: linear labels, and softmax labels with the
/// loss on fields. Two equations for two numbers [aim 90], exact, some fifty microseconds.
namespace onset::aim {

struct QuadraticProblem {
  Penalty penalty = Penalty::trace;
  double rho = 0.5;
  double equations = 0.0;  ///< A = 2 alpha D: twice the scores that are seen, over d^2; above 0
  double noise = 0.0;      ///< s, of kind `scaled`

  [[nodiscard]] double second_moment() const { return 1.0 + rho; }
};

/// The student at the minimum [aim 83].
struct QuadraticMinimum {
  double decay = 0.0;      ///< lambda
  double delta = 0.0;      ///< noise of the matrix that is shrunk; 0 at exact recovery
  double threshold = 0.0;  ///< eps; not used by ridge
  double conjugate = 0.0;  ///< m_hat = chi_hat; 0 for an interpolator
  double chi = 0.0;        ///< infinite for an interpolator
  double shrinkage = 1.0;  ///< ridge: S = shrinkage R
  bool zero = false;       ///< S = 0: the decay is too strong
  bool exact = false;      ///< S = S0
};

/// The minimum at a weight decay >= 0; 0 means the limit of small ones [aim 95].
[[nodiscard]] QuadraticMinimum quadratic_minimum(const QuadraticProblem& problem, double decay);

/// The minimum at the decay with the smallest error, 0 where no decay is best [aim 100].
[[nodiscard]] QuadraticMinimum best_quadratic_minimum(const QuadraticProblem& problem);

/// The smallest decay that leaves S = 0 [aim 94]; infinite for ridge.
[[nodiscard]] double quadratic_max_decay(const QuadraticProblem& problem);

/// The values of A between which the best decay is exactly 0, for the trace penalty; low == high
/// where there are none [aim 100].
struct DecayFreeWindow {
  double low = 0.0;
  double high = 0.0;
};
[[nodiscard]] DecayFreeWindow decay_free_window(double rho, double noise);

}  // namespace onset::aim
