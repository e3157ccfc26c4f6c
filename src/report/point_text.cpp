#include "report/point_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/printable.hpp"

namespace onset::report {
namespace {

bool is_default(const Verb& verb, const std::string& name, const Value& value) {
  for (const Parameter& parameter : verb.parameters) {
    if (parameter.name == name) return parameter.fallback == value;
  }
  return false;
}

/// The word in the form $'a\x0ab', which all common shells know, in printable ASCII.
std::string escaped_word(const std::string& text) {
  std::string out = "$'";
  for (const char c : text) {
    if (c < ' ' || c > '~') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "'";
}

/// "smi curve", with each of its words as a shell reads it back.
std::string shell_words(const std::string& text) {
  std::string out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    out += (start == 0 ? "" : " ") + shell_word(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

/// An option such as "--seed 1". Two hyphens at the beginning of a value would read as the next
/// option.
std::string option_words(const std::string& name, const std::string& value) {
  return shell_word("--" + name) + (value.starts_with("--") ? "=" : " ") + shell_word(value);
}

}  // namespace

std::string file_word(const std::string& name) {
  return shell_word(name.starts_with('-') ? "./" + name : name);
}

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_.,:/+=@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  // A control character that is pasted into a terminal acts as a key press, in quotes or not.
  if (one_line(text, all_of_it) != text) return escaped_word(text);
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
  return fmt::format("onset export {} {} --format csv", file_word(store),
                     option_words("study", study));
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
  std::string out = "onset " + shell_words(command);
  for (const auto& [name, value] : parameters.values()) {
    if (std::holds_alternative<std::monostate>(value)) continue;
    if (defaults && is_default(*defaults, name, value)) continue;
    if (const auto* flag = std::get_if<bool>(&value)) {
      if (*flag) out += " " + shell_word("--" + name);
      continue;
    }
    out += " " + option_words(name, to_text(value));
  }
  return out;
}

}  // namespace onset::report
