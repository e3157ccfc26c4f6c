#include "onset/ssi/model/model.hpp"

#include "onset/core/error.hpp"

namespace onset::ssi {

Encodings SequenceModel::all_encodings() const {
  if (encodings) return *encodings;
  if (positional) return opposite_encodings(tokens());
  return {std::vector<double>(tokens(), 0.0), {}};
}

std::vector<double> SequenceModel::shifts() const {
  const Encodings all = all_encodings();
  if (all.own.empty()) return std::vector<double>(tokens(), 0.0);
  if (all.own.size() == 1) return all.own.front();
  throw Refused("encodings along " + std::to_string(all.own.size()) +
                " directions across the teacher have as many overlaps, and the risk is no function "
                "of one e and m; possible: encodings along one direction, and ssi sgd with any");
}

bool SequenceModel::encodings_see_teacher() const {
  return encodings && encodings->see_teacher();
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
  if (encodings && encodings->teacher.size() != tokens()) {
    throw InvalidArgument("encodings", "has " + std::to_string(encodings->teacher.size()) +
                                           " rows; allowed: one for each of the " +
                                           std::to_string(tokens()) + " tokens");
  }
  if (encodings && positional == encodings->own.empty()) {
    throw InvalidArgument("positional", "contradicts `encodings`");
  }
  if (encodings && student.activation) {
    throw InvalidArgument("encodings",
                          "a tied or untied student has no positional encoding; allowed: with an "
                          "attention student");
  }
  if (positional && student.activation) {
    throw InvalidArgument("positional",
                          "a tied or untied student has no positional encoding; allowed: with an "
                          "attention student");
  }
  if (student.vector_per_token && !student.activation) {
    throw InvalidArgument("student",
                          "has weights for each token but is no function of their sum; allowed: "
                          "one weight vector, or an activation");
  }
}

}  // namespace onset::ssi
