#include "tool/options/operands.hpp"

#include <algorithm>

#include "onset/core/error.hpp"

namespace onset::tool {

Operands split_operands(Arguments arguments, std::span<const Parameter> known) {
  const auto takes_value = [&](const std::string& option) {
    return std::any_of(known.begin(), known.end(), [&](const Parameter& parameter) {
      return option == "--" + parameter.name && parameter.kind != ParameterKind::flag;
    });
  };
  Operands out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.empty()) throw InvalidArgument("FILE", "is empty; allowed: the name of a file");
    if (!word.starts_with('-')) {
      out.words.push_back(word);
      continue;
    }
    out.options.push_back(word);
    if (takes_value(word) && i + 1 < arguments.size()) out.options.push_back(arguments[++i]);
  }
  return out;
}

}  // namespace onset::tool
