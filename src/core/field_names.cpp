#include "core/field_names.hpp"

#include <algorithm>

namespace onset {
namespace {

constexpr char mark = '`';
constexpr std::string_view equals = " = ";

std::string replaced(std::string_view text, char old, char with) {
  std::string out(text);
  std::replace(out.begin(), out.end(), old, with);
  return out;
}

bool is_field(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed);
}

/// The text with what `write` makes of every field in it and of its value, which may be empty.
template <class Write>
std::string rewritten(std::string_view text, const Write& write) {
  std::string out;
  for (;;) {
    const std::size_t open = text.find(mark);
    const std::size_t close = open == text.npos ? open : text.find(mark, open + 1);
    if (close == text.npos) return out.append(text);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t at = std::min(inside.find(equals), inside.size());
    const std::string_view name = inside.substr(0, at);
    if (is_field(name)) {
      const std::size_t value = std::min(at + equals.size(), inside.size());
      out.append(text.substr(0, open)).append(write(name, inside.substr(value)));
      text.remove_prefix(close + 1);
    } else {  // the second mark may be the first of a field
      out.append(text.substr(0, close));
      text.remove_prefix(close);
    }
  }
}

}  // namespace

std::string field_name(std::string_view parameter) {
  return replaced(parameter, '-', '_');
}

std::string parameter_name(std::string_view field) {
  return replaced(field, '_', '-');
}

std::string with_options(std::string_view text) {
  return rewritten(text, [](std::string_view name, std::string_view value) {
    const std::string option = "--" + parameter_name(name);
    return value.empty() ? option : option + " " + std::string(value);
  });
}

std::string with_keys(std::string_view text) {
  return rewritten(text, [](std::string_view name, std::string_view value) {
    std::string key = mark + parameter_name(name);
    if (!value.empty()) key.append(equals).append(value);
    return key + mark;
  });
}

}  // namespace onset
