#pragma once

#include <functional>
#include <span>
#include <vector>

#include "aim/limits/flow/risk.hpp"
#include "onset/numerics/quadrature.hpp"

/// Integrals over the score differences u = h_aa - h_ab of two tokens [aim 63].
namespace onset::aim {

/// The trapezoid rule for functions of sigmoid(slope z), which have poles at distance pi/slope.
[[nodiscard]] numerics::Rule sigmoid_rule(double slope, Precision precision);

/// E f(z) by that rule.
[[nodiscard]] double sigmoid_mean(double slope, Precision precision,
                                  const std::function<double(double)>& f);

[[nodiscard]] double sigmoid(double x);

/// E f(z1) f(z2) for normals of correlation r: the sum of r^k times the squared Hermite
/// coefficients of f (Mehler) [aim 69]. `slope` as for sigmoid_rule(); |r| of 1/2 or less.
[[nodiscard]] double correlated_mean(double slope, double r, Precision precision,
                                     const std::function<double(double)>& f);

/// One row of the grid over (u*, u): the teacher's label and the student's at every second node.
/// Only rows with u* > 0 are visited, at twice their weight: integrands are even in (u*, u).
struct PairRow {
  double z = 0.0;       ///< u*/sqrt(3 Q_0)
  double weight = 0.0;  ///< of the row
  double teacher = 0.0;
  std::span<const double> nodes;  ///< of the part of u that is independent of u*
  std::span<const double> weights;
  std::span<const double> student;
};

class PairQuadrature {
 public:
  PairQuadrature(const FlowModel& model, Precision precision);

  void visit(const ScoreMoments& moments, const std::function<void(const PairRow&)>& row) const;

  /// v and v_a of a gradient g(y, y*) in u, odd in (u, u*) [aim 69].
  [[nodiscard]] GradientNoise noise(const ScoreMoments& moments,
                                    const std::function<double(double y, double ystar)>& g) const;

  /// The growth of v next to the teacher, where g = beta f(y) beta (u - u*) [aim 70].
  [[nodiscard]] Risk::NoiseGrowth noise_growth(const std::function<double(double y)>& f) const;

  /// beta sqrt(3 P), P = p + anti/3: the steepness of the student's label.
  [[nodiscard]] double student_slope(const ScoreMoments& moments) const;
  [[nodiscard]] double teacher_slope() const;

 private:
  /// The variance of the part of u/sqrt(3) that is independent of u*.
  [[nodiscard]] double own_variance(const ScoreMoments& moments) const;

  double beta_;
  double teacher_norm_;
  Precision precision_;
};

}  // namespace onset::aim
