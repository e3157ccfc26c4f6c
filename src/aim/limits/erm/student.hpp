#pragma once

#include <algorithm>
#include <optional>

#include "onset/aim/model/choices.hpp"

namespace onset::aim {

/// What the output side of the equations knows of the trained matrix S [aim 81].
struct Overlaps {
  double norm = 0.0;     ///< q = Tr S^2 / d
  double overlap = 0.0;  ///< m = Tr(S S0) / d
  double chi = 0.0;      ///< response of S to a field
  /// Q0 - m^2/q where it is known without cancellation [aim 109].
  std::optional<double> unexplained = std::nullopt;

  /// V = Q - m^2/q: what the student's scores leave open of those behind labels, whose Q is
  /// `label_norm`; that of the teacher without noise is `teacher_norm`.
  [[nodiscard]] double open_part(double label_norm, double teacher_norm) const {
    if (unexplained) return (label_norm - teacher_norm) + *unexplained;
    return norm > 0.0 ? std::max(0.0, label_norm - overlap * (overlap / norm)) : label_norm;
  }
};

/// What the prior side knows of the labels: their conjugates q_hat, m_hat, chi_hat [aim 82].
struct Conjugates {
  double norm = 0.0;
  double overlap = 0.0;
  double chi = 0.0;
};

/// The penalty lambda P and the teacher's width ratio.
struct PenaltyTerm {
  Penalty kind = Penalty::trace;
  double decay = 0.0;
  double rho = 0.5;
};

/// The trained matrix in the limit [aim 83]-[aim 85]: `scale` times what the penalty leaves of the
/// teacher in noise of variance `delta`.
struct StudentAtMinimum {
  Overlaps overlaps;
  double mse = 0.0;      ///< ||S - S0||_F^2 / d, without cancellation where the scale is 1
  double trace = 0.0;    ///< Tr S / d
  double penalty = 0.0;  ///< P / d
  double rank = 0.0;     ///< share of eigenvalues that are not 0; 1 for ridge
  double delta = 0.0;
  double threshold = 0.0;  ///< 0 for ridge
  double scale = 1.0;
  double stiffness = 0.0;  ///< chi_hat, or chi_hat + 4 lambda for ridge
  [[nodiscard]] bool zero() const { return overlaps.norm == 0.0; }
};

/// A student of known noise, threshold and scale; `stiffness` > 0 gives chi, infinite for 0.
[[nodiscard]] StudentAtMinimum student_at(const PenaltyTerm& penalty, double delta,
                                          double threshold, double scale, double stiffness);

/// The student that the conjugates make.
[[nodiscard]] StudentAtMinimum student_of(const PenaltyTerm& penalty, const Conjugates& hats);

}  // namespace onset::aim
