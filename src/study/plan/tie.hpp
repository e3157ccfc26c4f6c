#pragma once

#include <map>
#include <string>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/numerics/expression.hpp"
#include "onset/study/study.hpp"

namespace onset::study {

/// A parameter whose value at every point is an expression of the numbers that the point has.
class TiedParameter {
 public:
  /// `known` are the parameters that the expression may use. Throws InvalidArgument at the place
  /// of the tie for a parameter that takes no number and for a mistake in the expression.
  TiedParameter(const Tie& tie, const Parameter& parameter, std::vector<std::string> known);

  [[nodiscard]] const std::string& name() const { return tie_.parameter; }
  [[nodiscard]] const io::Place& place() const { return tie_.place; }
  /// The value that belongs to these: rounded to a whole number where the parameter takes only
  /// such. Throws InvalidArgument at the place of the tie for a value that is not allowed.
  [[nodiscard]] Value at(const std::map<std::string, Value>& given) const;

 private:
  /// The numbers that the expression uses, for messages: "; this is at dim = 100".
  [[nodiscard]] std::string point_text(const std::map<std::string, Value>& given) const;

  Tie tie_;
  Parameter parameter_;
  std::vector<std::string> known_;
  numerics::Expression expression_;
};

/// Whether an expression may use the value.
[[nodiscard]] bool is_number(const Value& value);

}  // namespace onset::study
