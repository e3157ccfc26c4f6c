#include "onset/core/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/field_names.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"

namespace onset {
namespace {

using detail::parse_integer;
using detail::reject;

/// "a number in (0, 1000]", "a whole number >= 1": `noun` followed by the range.
std::string with_range(const Parameter& parameter, std::string noun) {
  const bool below = std::isfinite(parameter.min);
  const bool above = std::isfinite(parameter.max);
  if (below && above) {
    return fmt::format("{} in {}{}, {}]", noun, parameter.open_min ? '(' : '[', parameter.min,
                       parameter.max);
  }
  if (below) return fmt::format("{} {} {}", noun, parameter.open_min ? ">" : ">=", parameter.min);
  if (above) return fmt::format("{} <= {}", noun, parameter.max);
  return noun;
}

bool in_range(const Parameter& parameter, double x) {
  if (parameter.open_min ? !(x > parameter.min) : !(x >= parameter.min)) return false;
  return x <= parameter.max;
}

void check_number(const Parameter& parameter, double x) {
  if (std::isnan(x)) reject(parameter, "the value is not a number");
  if (!std::isfinite(x)) reject(parameter, fmt::format("{} is not finite", x));
  if (parameter.whole && x != std::floor(x)) reject(parameter, fmt::format("{} is not whole", x));
  if (!in_range(parameter, x)) reject(parameter, fmt::format("{} is out of range", x));
}

void check_word(const Parameter& parameter, const std::string& word) {
  if (std::find(parameter.words.begin(), parameter.words.end(), word) != parameter.words.end()) {
    return;
  }
  reject(parameter, in_quotes(word) + " is not known", suggestion(word, parameter.words));
}

[[noreturn]] void wrong_kind(const Parameter& parameter, const Value& value) {
  reject(parameter, fmt::format("{} is of another kind", in_quotes(to_text(value))));
}

std::string canonical_word(const Parameter& parameter, std::string word) {
  const auto alias = parameter.aliases.find(word);
  return alias == parameter.aliases.end() ? word : alias->second;
}

/// Study files and bindings give whole numbers where reals are meant, one number where a list is,
/// grids as strings, and numbers where a text may be one; nothing is lost by reading them so.
Value coerce(const Parameter& parameter, const Value& value) {
  const bool list = parameter.kind == ParameterKind::reals || parameter.kind == ParameterKind::grid;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    if (parameter.kind == ParameterKind::real) return static_cast<double>(*whole);
    if (list) return std::vector<double>{static_cast<double>(*whole)};
  }
  if (const auto* real = std::get_if<double>(&value); real && list) {
    return std::vector<double>{*real};
  }
  if (const auto* text = std::get_if<std::string>(&value); text && list) {
    return parse_value(parameter, *text);
  }
  const bool number = std::holds_alternative<std::int64_t>(value) ||
                      std::holds_alternative<double>(value) ||
                      std::holds_alternative<std::vector<double>>(value);
  if (number && parameter.kind == ParameterKind::text) return to_text(value);
  if (const auto* word = std::get_if<std::string>(&value);
      word && parameter.kind == ParameterKind::word) {
    return canonical_word(parameter, *word);
  }
  return value;
}

std::string list_words(const std::vector<std::string>& words) {
  if (words.empty()) return "no word";
  if (words.size() == 1) return words.front();
  const std::vector<std::string> all_but_last(words.begin(), words.end() - 1);
  return fmt::format("{} or {}", fmt::join(all_but_last, ", "), words.back());
}

}  // namespace

std::string Parameter::allowed() const {
  switch (kind) {
    case ParameterKind::flag: return "true or false";
    case ParameterKind::integer: return with_range(*this, "a whole number");
    case ParameterKind::real: return with_range(*this, whole ? "a whole number" : "a number");
    case ParameterKind::reals:
      return fmt::format("a comma list such as {}, each item {}", whole ? "1,2" : "1,0.5",
                         with_range(*this, whole ? "a whole number" : "a number"));
    case ParameterKind::grid:
      return "0.1,0.2,0.5 or start:stop:step or log:start:stop:count, each point " +
             with_range(*this, "a number");
    case ParameterKind::word: return list_words(words);
    case ParameterKind::text: return "any text";
  }
  return {};
}

Value parse_value(const Parameter& parameter, std::string_view text) {
  Value value;
  switch (parameter.kind) {
    case ParameterKind::flag:
      if (text != "true" && text != "false") {
        reject(parameter, fmt::format("{} is neither true nor false", in_quotes(text)));
      }
      value = text == "true";
      break;
    case ParameterKind::integer: value = parse_integer(parameter, text); break;
    case ParameterKind::real: value = detail::parse_number(parameter, text); break;
    case ParameterKind::reals: value = detail::parse_list(parameter, text); break;
    case ParameterKind::grid: value = detail::parse_grid(parameter, text); break;
    case ParameterKind::word: value = canonical_word(parameter, std::string(text)); break;
    case ParameterKind::text: value = std::string(text); break;
  }
  check_value(parameter, value);
  return value;
}

void check_value(const Parameter& parameter, const Value& value) {
  switch (parameter.kind) {
    case ParameterKind::flag:
      if (!std::holds_alternative<bool>(value)) wrong_kind(parameter, value);
      return;
    case ParameterKind::integer: {
      const auto* whole = std::get_if<std::int64_t>(&value);
      if (!whole) wrong_kind(parameter, value);
      if (!in_range(parameter, static_cast<double>(*whole))) {
        reject(parameter, fmt::format("{} is out of range", *whole));
      }
      return;
    }
    case ParameterKind::real: {
      const auto* real = std::get_if<double>(&value);
      if (!real) wrong_kind(parameter, value);
      check_number(parameter, *real);
      return;
    }
    case ParameterKind::reals:
    case ParameterKind::grid: {
      const auto* list = std::get_if<std::vector<double>>(&value);
      if (!list) wrong_kind(parameter, value);
      if (list->empty()) reject(parameter, "the list is empty");
      if (list->size() > max_grid_points) {
        reject(parameter, fmt::format("{} points are more than {}", list->size(), max_grid_points));
      }
      for (const double x : *list) check_number(parameter, x);
      return;
    }
    case ParameterKind::word:
    case ParameterKind::text: {
      const auto* text = std::get_if<std::string>(&value);
      if (!text) wrong_kind(parameter, value);
      if (parameter.kind == ParameterKind::word) check_word(parameter, *text);
      return;
    }
  }
}

std::string to_text(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return fmt::format("{}", real); }
    std::string operator()(const std::vector<double>& list) const {
      return fmt::format("{}", fmt::join(list, ","));
    }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{}, value);
}

bool Parameters::has(const std::string& name) const {
  const auto found = values_.find(name);
  return found != values_.end() && !std::holds_alternative<std::monostate>(found->second);
}

template <class T>
const T& Parameters::get(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || std::holds_alternative<std::monostate>(found->second)) {
    throw InvalidArgument(field_name(name), "has no value, and this computation needs one");
  }
  const T* value = std::get_if<T>(&found->second);
  if (!value) throw InvalidArgument(field_name(name), "was read as another kind of value");
  return *value;
}

bool Parameters::flag(const std::string& name) const {
  return has(name) && get<bool>(name);
}
std::int64_t Parameters::integer(const std::string& name) const {
  return get<std::int64_t>(name);
}
double Parameters::real(const std::string& name) const {
  return get<double>(name);
}
const std::vector<double>& Parameters::reals(const std::string& name) const {
  return get<std::vector<double>>(name);
}
const std::string& Parameters::text(const std::string& name) const {
  return get<std::string>(name);
}

Parameters complete(std::span<const Parameter> parameters,
                    const std::map<std::string, Value>& given) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  for (const auto& [name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    for (std::string& known : names) known = field_name(known);
    throw InvalidArgument(printable(field_name(name)),
                          fmt::format("no such field; allowed: {}{}", fmt::join(names, ", "),
                                      suggestion(field_name(name), names)));
  }
  Parameters out;
  for (const Parameter& parameter : parameters) {
    const auto found = given.find(parameter.name);
    const bool present =
        found != given.end() && !std::holds_alternative<std::monostate>(found->second);
    if (!present && parameter.required) reject(parameter, "required, but not given");
    Value value = coerce(parameter, present ? found->second : parameter.fallback);
    if (!present && parameter.kind == ParameterKind::flag &&
        std::holds_alternative<std::monostate>(value)) {
      value = false;  // a flag that is not given is off
    }
    if (!std::holds_alternative<std::monostate>(value)) check_value(parameter, value);
    out.set(parameter.name, std::move(value));
  }
  return out;
}

}  // namespace onset
