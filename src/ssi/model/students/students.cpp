#include <algorithm>

#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "onset/ssi/model/student.hpp"

namespace onset::ssi {

StudentKind attention_student();
StudentKind tied_student();
StudentKind untied_student();

const std::vector<StudentKind>& student_kinds() {
  static const std::vector<StudentKind> list{attention_student(), tied_student(), untied_student()};
  return list;
}

namespace {

std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const StudentKind& kind : student_kinds()) list.push_back(kind.name);
  return list;
}

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> given(const StudentOptions& options) {
  std::vector<std::string> list;
  if (options.reduction != Reduction::automatic) list.emplace_back("reduction");
  if (!options.left.empty()) list.emplace_back("left");
  if (!options.right.empty()) list.emplace_back("right");
  if (options.activation) list.emplace_back("activation");
  return list;
}

/// Throws for an option that is given, but is not among those that the student reads.
void refuse_others(const StudentOptions& options, const std::vector<std::string>& read) {
  const auto reads = [](const std::vector<std::string>& list, const std::string& option) {
    return std::find(list.begin(), list.end(), option) != list.end();
  };
  for (const std::string& option : given(options)) {
    if (reads(read, option)) continue;
    std::vector<std::string> readers;
    for (const StudentKind& kind : student_kinds()) {
      if (reads(kind.options, option)) readers.push_back(kind.name);
    }
    throw InvalidArgument(option, "has a meaning only with `student = " + joined(readers, " or ") +
                                      "`; allowed: leaving it out");
  }
}

/// A student that is an expression; a single word that is not an expression was meant to be a name.
Student expression_student(const std::string& text, std::size_t tokens) {
  try {
    return {.link = expression_link(text, tokens)};
  } catch (const numerics::SyntaxError& e) {
    const std::string hint = suggestion(text, names());
    if (hint.empty()) throw InvalidArgument("student", e.what());
    throw InvalidArgument("student", "no student '" + text + "'; allowed: " + student_names() +
                                         ", or an expression of z1, .., zL" + hint);
  }
}

}  // namespace

std::string student_names() {
  return joined(names(), ", ");
}

bool Student::jumps() const {
  const auto* own = activation ? activation.get() : link->expression();
  return own != nullptr && own->jumps();
}

Student Student::tied_twin() const {
  Student twin = *this;
  twin.vector_per_token = false;
  return twin;
}

Student make_student(const std::string& text, const StudentOptions& options) {
  for (const StudentKind& kind : student_kinds()) {
    if (kind.name != text) continue;
    refuse_others(options, kind.options);
    return kind.make(options);
  }
  refuse_others(options, {});
  return expression_student(text, options.tokens);
}

}  // namespace onset::ssi
