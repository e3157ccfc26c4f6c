#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "onset/ssi/model/link.hpp"

namespace onset::ssi {

/// A student: its output as a function of the fields, and what is known of its structure. Only the
/// link is needed, and all limits and learners take it; the rest opens exact series and faster
/// chains where it holds. [ssi 1-4]
struct Student {
  LinkPointer link = {};  ///< f of the fields z_1, .., z_L; that of the tied twin if untied
  /// sigma, where f = sigma(L^{-1/2} sum_i z_i); null where f is no such function.
  std::shared_ptr<const numerics::Expression> activation = {};
  /// Whether each token has weights of its own, with one constraint on all of them. Such a student
  /// needs an activation.
  bool vector_per_token = false;
  /// Which part of the attention matrix is the output, for a student that has one.
  std::optional<Reduction> reduction = {};

  /// Whether it jumps somewhere, so that its derivatives miss a part of its slope.
  [[nodiscard]] bool jumps() const;
  /// The same function of u with one weight vector for all tokens instead of one for each; only for
  /// a student that is a function of u alone.
  [[nodiscard]] Student tied_twin() const;
};

/// What options say about a student besides its name.
struct StudentOptions {
  std::size_t tokens = 2;
  std::size_t outputs = 1;  ///< the number of outputs of the target
  Reduction reduction = Reduction::automatic;
  std::vector<double> left = {};
  std::vector<double> right = {};
  std::optional<std::string> activation = {};
};

/// A student that has a name. Each is one file in src/ssi/model/students and an entry of the list
/// in students.cpp; the command, its messages and its help are made from the list.
struct StudentKind {
  std::string name;
  /// Which of reduction, left, right and activation it reads; the others are refused by name.
  std::vector<std::string> options;
  /// Throws InvalidArgument naming the field of StudentOptions.
  Student (*make)(const StudentOptions& options);
};
[[nodiscard]] const std::vector<StudentKind>& student_kinds();
/// "attention, tied, untied", for messages and help.
[[nodiscard]] std::string student_names();

/// A student by its name, or as an expression of z1, .., zL. Throws InvalidArgument naming
/// `student` or the field of StudentOptions that is wrong or has no meaning for this student.
[[nodiscard]] Student make_student(const std::string& text, const StudentOptions& options);

}  // namespace onset::ssi
