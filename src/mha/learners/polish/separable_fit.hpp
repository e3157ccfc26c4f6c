#pragma once

#include <vector>

#include "mha/learners/hull/affine_hull.hpp"
#include "mha/learners/polish/head_features.hpp"

namespace onset::mha {

/// Least squares of a sample's labels over theta, with w eliminated: variable projection [mha 21].
/// Theta moves freely, or in the coordinates of a hull.
class SeparableFit {
 public:
  /// Subset, hull and context must outlive the fit. Without a `hull` (null) theta moves freely.
  SeparableFit(const Subset& sample, const Hull* hull, const Context& context);

  /// Moves theta to these values and solves for w.
  void move_to(const std::vector<Vector>& thetas);
  /// |Y - Z W| / |Y|.
  [[nodiscard]] double residual() const { return residual_; }
  [[nodiscard]] Layer layer() const { return to_layer(thetas_, w_); }

  /// The normal equations of a Gauss-Newton step at the present point (Kaufman's approximation).
  struct NormalEquations {
    Matrix matrix;  ///< J^T J of the projected Jacobian
    Vector right;   ///< J^T (Y - Z W)
  };
  [[nodiscard]] NormalEquations normal_equations() const;
  /// The point that a step leads to.
  [[nodiscard]] std::vector<Vector> stepped(std::vector<Vector> from, const Vector& step) const;

 private:
  /// The number of coordinates in which theta moves, all heads together.
  [[nodiscard]] Index unknowns() const {
    const Index own = hull_ != nullptr ? hull_->directions.rows() : x_.cols() * x_.cols();
    return own * static_cast<Index>(thetas_.size());
  }
  /// The derivative of one output with respect to them, not yet projected.
  [[nodiscard]] Matrix output_jacobian(Index output) const;
  /// J^T J over all outputs where theta moves freely, in the upper blocks. A row of J is x_a times
  /// a vector that does not depend on x_a otherwise, so it is a sum of Kronecker products [mha 32].
  [[nodiscard]] Matrix free_square() const;

  const Subset& sample_;
  const Hull* hull_;
  const Context& context_;
  Matrix x_;
  Matrix y_;
  Matrix along_;  // x_a^T D_j for every row and direction of the hull
  std::vector<Vector> thetas_;
  Matrix basis_;  // orthonormal columns that span Z
  Matrix w_;
  Matrix left_;
  std::vector<Matrix> sensitivity_;  // per head: Cov_p(x) w of every row, rows x dim^2
  double residual_ = 0.0;
};

struct FitOptions {
  int max_steps = 60;
  double target = 1e-13;   ///< relative residual that counts as zero
  double progress = 1e-7;  ///< least relative decrease of a step
};

struct FitOutcome {
  Layer layer;
  double residual = 0.0;
  int steps = 0;        ///< evaluations of the Jacobian
  int evaluations = 0;  ///< evaluations of the residual

  /// Evaluations of the layer over a sample, in examples; a Jacobian counts as two.
  [[nodiscard]] std::size_t layer_evaluations(std::size_t examples) const {
    return static_cast<std::size_t>(evaluations + 2 * steps) * examples;
  }
};

/// Fits by Levenberg and Marquardt's method from `start`.
[[nodiscard]] FitOutcome fit_layer(const Subset& sample, const std::vector<Vector>& start,
                                   const Hull* hull, const FitOptions& options,
                                   const Context& context);

/// The number of examples that such a fit should see: enough equations for heads x dim^2 unknowns
/// many times over.
[[nodiscard]] std::size_t fit_examples(const Subset& sample, int heads);

}  // namespace onset::mha
