#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "onset/ssi/model/link.hpp"

namespace onset::ssi {

/// The loss of one sample; three occur in the literature and have different landscapes and steps.
enum class Loss {
  half_squared,  ///< |y - f|^2 / 2: the analysed one, the default everywhere
  squared,       ///< |y - f|^2: torch's MSELoss
  frobenius,     ///< |y - f|: the unsquared norm, minimised by the published positional runs
};
[[nodiscard]] std::string_view to_string(Loss loss);

/// How the student's weights enter.
enum class StudentKind {
  sequence,  ///< f(z_1, .., z_L), one weight vector: attention, or an expression
  tied,      ///< sigma(L^{-1/2} sum_i z_i), one weight vector
  untied,    ///< the same with one weight vector per token, one constraint on all of them
};

struct Student {
  StudentKind kind = StudentKind::sequence;
  LinkPointer link;  ///< of the fields; of a tied twin if untied
  std::shared_ptr<const numerics::Expression> activation;  ///< of tied and untied students
};

/// A target, a student, and the tokens between them. [ssi 1-4]
struct SequenceModel {
  LinkPointer target;
  Student student;
  bool positional = false;  ///< tokens carry +P, -P, +P, ..: |P| = 1, orthogonal to the teacher
  Loss loss = Loss::half_squared;

  [[nodiscard]] std::size_t tokens() const { return target->tokens(); }
  /// pi_i: the sign of P in token i; zeros without a positional encoding.
  [[nodiscard]] std::vector<double> signs() const;
  /// Whether the student jumps somewhere, so that its derivatives are not all of its slope.
  [[nodiscard]] bool student_jumps() const;
  /// Throws InvalidArgument when target and student do not fit together.
  void validate() const;
};

/// dl/df for the residual f - y (outputs x count, in place).
void loss_weights(Loss loss, std::size_t outputs, std::size_t count, double* residual);
/// The loss itself from the residual.
void loss_values(Loss loss, std::size_t outputs, std::size_t count, const double* residual,
                 double* out);

}  // namespace onset::ssi
