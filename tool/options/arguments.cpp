#include "tool/options/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/field_names.hpp"
#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"

namespace onset::tool {
namespace {

std::vector<std::string> names_of(std::span<const Parameter> known) {
  std::vector<std::string> names;
  for (const Parameter& parameter : known) names.push_back(parameter.name);
  return names;
}

const Parameter& find(std::string_view option, std::span<const Parameter> known) {
  for (const Parameter& parameter : known) {
    if (option.substr(2) == parameter.name) return parameter;
  }
  const std::vector<std::string> names = names_of(known);
  throw InvalidArgument(printable(option),
                        fmt::format("no such option; allowed: --{}{}", fmt::join(names, ", --"),
                                    option_suggestion(option, names)));
}

/// The first operand that has no value yet, or none.
const Parameter* next_operand(const std::map<std::string, Value>& given,
                              std::span<const Parameter> known) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Parameter& parameter) {
    return parameter.operand && !given.contains(parameter.name);
  });
  return found == known.end() ? nullptr : &*found;
}

/// Rejects a word that is no option and follows none; `-layers` most likely means `--layers`.
[[noreturn]] void reject_stray(const std::string& word, std::span<const Parameter> known) {
  throw InvalidArgument(in_quotes(word),
                        "a word that belongs to no option; allowed: --name value or --name=value" +
                            option_suggestion(word, names_of(known)));
}

}  // namespace

InvalidArgument as_option(const InvalidArgument& error, std::span<const Parameter> known) {
  const std::string name = parameter_name(error.field());
  const bool is_option = std::any_of(known.begin(), known.end(),
                                     [&](const Parameter& option) { return option.name == name; });
  return {is_option ? "--" + name : error.field(), with_options(error.message())};
}

std::map<std::string, Value> read_options(Arguments arguments, std::span<const Parameter> known) {
  std::map<std::string, Value> given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!word.starts_with('-')) {
      const Parameter* operand = next_operand(given, known);
      if (!operand) reject_stray(word, known);
      given[operand->name] = parse_value(*operand, word);
      continue;
    }
    if (!word.starts_with("--") || word.size() == 2) reject_stray(word, known);
    const std::size_t equals = word.find('=');
    const Parameter& parameter = find(std::string_view(word).substr(0, equals), known);
    if (given.contains(parameter.name)) {
      throw InvalidArgument("--" + parameter.name, "given twice; allowed: once");
    }
    if (equals != std::string::npos) {
      given[parameter.name] = parse_value(parameter, word.substr(equals + 1));
    } else if (parameter.kind == ParameterKind::flag) {
      given[parameter.name] = true;
    } else {
      // Values may begin with one hyphen (negative numbers) but not with two.
      if (i + 1 == arguments.size() || arguments[i + 1].starts_with("--")) {
        throw InvalidArgument("--" + parameter.name,
                              "its value is missing; allowed: " + parameter.allowed());
      }
      given[parameter.name] = parse_value(parameter, arguments[++i]);
    }
  }
  return given;
}

bool wants_help(Arguments arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

}  // namespace onset::tool
