#pragma once

#include <cstddef>
#include <vector>

#include "onset/ssi/model/loss.hpp"
#include "onset/ssi/model/student.hpp"

namespace onset::ssi {

/// A target, a student, and the tokens between them. [ssi 1-4]
struct SequenceModel {
  LinkPointer target;
  Student student;
  bool positional = false;  ///< tokens carry +P, -P, +P, ..: |P| = 1, orthogonal to the teacher
  SampleLoss loss = SampleLoss::half_squared;

  [[nodiscard]] std::size_t tokens() const { return target->tokens(); }
  /// pi_i: the sign of P in token i; zeros without a positional encoding.
  [[nodiscard]] std::vector<double> signs() const;
  /// Throws InvalidArgument when target and student do not fit together.
  void validate() const;
};

}  // namespace onset::ssi
