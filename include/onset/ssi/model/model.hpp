#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "onset/ssi/model/encodings.hpp"
#include "onset/ssi/model/loss.hpp"
#include "onset/ssi/model/student.hpp"

namespace onset::ssi {

/// A target, a student, and the tokens between them. [ssi 1-4]
struct SequenceModel {
  LinkPointer target;
  Student student;
  /// Whether tokens carry encodings across the teacher, so that there is an overlap e: +P, -P, +P,
  /// .. with |P| = 1 unless others are given.
  bool positional = false;
  std::optional<Encodings> encodings = {};  ///< encodings of one's own
  SampleLoss loss = SampleLoss::half_squared;

  [[nodiscard]] std::size_t tokens() const { return target->tokens(); }
  /// Those of all tokens, whoever gave them; without any there is no direction.
  [[nodiscard]] Encodings all_encodings() const;
  /// pi_i: the component of token i along P; zeros without a positional encoding. Throws Refused
  /// where there are several directions P.
  [[nodiscard]] std::vector<double> shifts() const;
  /// The component of each token's encoding along the teacher.
  [[nodiscard]] std::vector<double> teacher_shifts() const { return all_encodings().teacher; }
  [[nodiscard]] bool encodings_see_teacher() const;
  /// Throws InvalidArgument when target and student do not fit together.
  void validate() const;
};

}  // namespace onset::ssi
