#include "onset/ssi/model/model.hpp"

#include "onset/core/error.hpp"

namespace onset::ssi {

std::vector<double> SequenceModel::signs() const {
  std::vector<double> signs(tokens(), 0.0);
  if (!positional) return signs;
  for (std::size_t i = 0; i < signs.size(); ++i) signs[i] = i % 2 == 0 ? 1.0 : -1.0;
  return signs;
}

void SequenceModel::validate() const {
  if (student.link->tokens() != target->tokens()) {
    throw InvalidArgument("student", "has " + std::to_string(student.link->tokens()) +
                                         " tokens, the target " + std::to_string(target->tokens()));
  }
  if (student.activation && target->outputs() > 1) {
    throw InvalidArgument("target",
                          "has a matrix as output; allowed with a tied or untied student: a target "
                          "of one output");
  }
  if (student.link->outputs() != target->outputs()) {
    throw InvalidArgument(
        "student", "has " + std::to_string(student.link->outputs()) + " outputs, the target " +
                       std::to_string(target->outputs()) + "; allowed: as many as the target");
  }
  if (positional && student.activation) {
    throw InvalidArgument("positional", "a tied or untied student has no positional encoding");
  }
  if (student.vector_per_token && !student.activation) {
    throw InvalidArgument("student",
                          "has weights for each token but is no function of their sum; allowed: "
                          "one weight vector, or an activation");
  }
}

}  // namespace onset::ssi
