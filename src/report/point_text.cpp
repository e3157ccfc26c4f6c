#include "report/point_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onset::report {
namespace {

bool is_default(const Verb& verb, const std::string& name, const Value& value) {
  for (const Parameter& parameter : verb.parameters) {
    if (parameter.name == name) return parameter.fallback == value;
  }
  return false;
}

}  // namespace

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.,:/+=@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string export_command(const std::string& study, const std::string& store) {
  return fmt::format("onset export {} --study {} --format csv", shell_word(store),
                     shell_word(study));
}

std::string axis_text(const std::vector<std::string>& axes, const std::vector<Value>& values) {
  std::string out;
  for (std::size_t i = 0; i < axes.size() && i < values.size(); ++i) {
    out += fmt::format("{}{} = {}", i == 0 ? "" : ", ", axes[i], to_text(values[i]));
  }
  return out;
}

std::string command_line(const std::string& command, const Parameters& parameters,
                         const Verb* defaults) {
  std::string out = "onset " + command;
  for (const auto& [name, value] : parameters.values()) {
    if (std::holds_alternative<std::monostate>(value)) continue;
    if (defaults && is_default(*defaults, name, value)) continue;
    if (const auto* flag = std::get_if<bool>(&value)) {
      if (*flag) out += " --" + name;
      continue;
    }
    const std::string text = to_text(value);
    // Two hyphens would read as the next option.
    out += fmt::format(" --{}{}{}", name, text.starts_with("--") ? "=" : " ", shell_word(text));
  }
  return out;
}

}  // namespace onset::report
