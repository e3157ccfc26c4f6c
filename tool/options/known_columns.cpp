#include "tool/options/known_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"

namespace onset::tool {
namespace {

constexpr const char* digits = "0123456789";
constexpr const char* places = "0123456789_";

/// The letters before the numbers of a numbered column, such as Q of Q11 and of Q1_12; nothing for
/// another name.
std::string stem(const std::string& name) {
  const std::size_t end = name.find_first_of(digits);
  if (end == std::string::npos || name.find_first_not_of(places, end) != std::string::npos) {
    return {};
  }
  return name.substr(0, end);
}

}  // namespace

void require_columns(const Verb& verb, const std::vector<std::string>& asked) {
  std::vector<std::string> names;
  for (const RowKind& kind : verb.rows) {
    for (const Column& column : kind.columns) {
      if (std::find(names.begin(), names.end(), column.name) == names.end()) {
        names.push_back(column.name);
      }
    }
  }
  for (const std::string& name : asked) {
    const bool known =
        name == "all" || std::any_of(names.begin(), names.end(), [&](const std::string& column) {
          return column == name || (!stem(name).empty() && stem(column) == stem(name));
        });
    if (known) continue;
    throw InvalidArgument("columns",
                          fmt::format("there is no {}; allowed: all, {}{}", in_quotes(name),
                                      fmt::join(names, ", "), suggestion(name, names)));
  }
}

}  // namespace onset::tool
