#include "onset/ssi/model/model.hpp"

#include <cmath>

#include "onset/core/error.hpp"
#include "onset/numerics/simd/clones.hpp"

namespace onset::ssi {
namespace {

ONSET_CLONES void squares(std::size_t outputs, std::size_t count, const double* residual,
                          double* out) {
  for (std::size_t p = 0; p < count; ++p) out[p] = residual[p] * residual[p];
  for (std::size_t k = 1; k < outputs; ++k) {
    for (std::size_t p = 0; p < count; ++p) {
      out[p] += residual[k * count + p] * residual[k * count + p];
    }
  }
}

/// At a perfect fit the norm has no gradient; 0 is its subgradient that leaves the weights alone.
ONSET_CLONES void divide_by_norm(std::size_t outputs, std::size_t count, double* square,
                                 double* residual) {
  for (std::size_t p = 0; p < count; ++p) {
    square[p] = square[p] > 0.0 ? 1.0 / std::sqrt(square[p]) : 0.0;
  }
  for (std::size_t k = 0; k < outputs; ++k) {
    for (std::size_t p = 0; p < count; ++p) residual[k * count + p] *= square[p];
  }
}

}  // namespace

std::string_view to_string(Loss loss) {
  switch (loss) {
    case Loss::half_squared: return "half-squared";
    case Loss::squared: return "squared";
    case Loss::frobenius: return "frobenius";
  }
  return "";
}

std::vector<double> SequenceModel::signs() const {
  std::vector<double> signs(tokens(), 0.0);
  if (!positional) return signs;
  for (std::size_t i = 0; i < signs.size(); ++i) signs[i] = i % 2 == 0 ? 1.0 : -1.0;
  return signs;
}

bool SequenceModel::student_jumps() const {
  const auto* own = student.activation ? student.activation.get() : student.link->expression();
  return own != nullptr && own->jumps();
}

void SequenceModel::validate() const {
  if (student.link->tokens() != target->tokens()) {
    throw InvalidArgument("student", "has " + std::to_string(student.link->tokens()) +
                                         " tokens, the target " + std::to_string(target->tokens()));
  }
  if (student.link->outputs() != target->outputs()) {
    throw InvalidArgument(
        "student", "has " + std::to_string(student.link->outputs()) + " outputs, the target " +
                       std::to_string(target->outputs()) + "; allowed: as many as the target");
  }
  if (positional && student.kind != StudentKind::sequence) {
    throw InvalidArgument("positional", "a tied or untied student has no positional encoding");
  }
}

void loss_weights(Loss loss, std::size_t outputs, std::size_t count, double* residual) {
  if (loss == Loss::squared) {
    for (std::size_t i = 0; i < outputs * count; ++i) residual[i] *= 2.0;
  } else if (loss == Loss::frobenius) {
    thread_local std::vector<double> square;
    square.resize(count);
    squares(outputs, count, residual, square.data());
    divide_by_norm(outputs, count, square.data(), residual);
  }
}

void loss_values(Loss loss, std::size_t outputs, std::size_t count, const double* residual,
                 double* out) {
  squares(outputs, count, residual, out);
  for (std::size_t p = 0; p < count; ++p) {
    if (loss == Loss::half_squared) out[p] *= 0.5;
    if (loss == Loss::frobenius) out[p] = std::sqrt(out[p]);
  }
}

}  // namespace onset::ssi
