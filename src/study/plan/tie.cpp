#include "study/plan/tie.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/field_names.hpp"
#include "onset/core/error.hpp"

namespace onset::study {
namespace {

/// Beyond this a double is no longer exact as a whole number, and no parameter takes it.
constexpr double largest_whole = 9007199254740992.0;

double number_of(const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole ? static_cast<double>(*whole) : std::get<double>(value);
}

/// The number as a value of the parameter: rounded where only whole numbers are taken.
Value value_for(const Parameter& parameter, double x) {
  if (parameter.kind == ParameterKind::integer && std::abs(x) <= largest_whole) {
    return std::int64_t{std::llround(x)};
  }
  return parameter.whole ? std::round(x) : x;
}

/// Names in expressions have underscores, since a hyphen would be a minus.
std::vector<std::string> variables_of(const std::vector<std::string>& parameters) {
  std::vector<std::string> out;
  std::transform(parameters.begin(), parameters.end(), std::back_inserter(out), field_name);
  return out;
}

numerics::Expression read(const Tie& tie, const std::vector<std::string>& known) {
  try {
    return {tie.expression, {variables_of(known), ""}};
  } catch (const numerics::SyntaxError& error) {
    io::complain(tie.place, fmt::format("{}: {}", tie.parameter, error.what()));
  }
}

}  // namespace

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

TiedParameter::TiedParameter(const Tie& tie, const Parameter& parameter,
                             std::vector<std::string> known)
    : tie_(tie), parameter_(parameter), known_(std::move(known)), expression_(read(tie, known_)) {
  if (parameter.kind == ParameterKind::integer || parameter.kind == ParameterKind::real) return;
  io::complain(tie.place, fmt::format("'{}' does not take one number; only parameters that do can "
                                      "be tied to others",
                                      tie.parameter));
}

Value TiedParameter::at(const std::map<std::string, Value>& given) const {
  std::vector<double> inputs;
  for (const std::string& name : known_) inputs.push_back(number_of(given.at(name)));
  double result = 0.0;
  expression_.values(1, inputs.data(), &result);
  if (std::isnan(result)) {
    io::complain(tie_.place, fmt::format("{}: its expression is not a number{}", tie_.parameter,
                                         point_text(given)));
  }
  try {
    return complete({&parameter_, 1}, {{tie_.parameter, value_for(parameter_, result)}})
        .values()
        .at(tie_.parameter);
  } catch (const InvalidArgument& error) {
    io::complain(tie_.place, fmt::format("{}: {}{}", tie_.parameter, with_keys(error.message()),
                                         point_text(given)));
  }
}

std::string TiedParameter::point_text(const std::map<std::string, Value>& given) const {
  std::string out;
  for (const std::size_t i : expression_.used()) {
    const std::string& name = known_[i];
    out += fmt::format("{}{} = {}", out.empty() ? "; this is at " : ", ", name,
                       to_text(given.at(name)));
  }
  return out;
}

}  // namespace onset::study
