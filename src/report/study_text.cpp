#include "report/study_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace onset::report {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (code < 0x20 || code == 0x7F) {
      out += fmt::format("\\u{:04X}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Writes the fewest digits that read back to the same bits, and always a real number to TOML.
std::string real_text(double x) {
  const std::string text = fmt::format("{}", x);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

std::string value_text(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "\"\""; }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return real_text(real); }
    std::string operator()(const std::vector<double>& list) const {
      std::vector<std::string> items;
      std::transform(list.begin(), list.end(), std::back_inserter(items), real_text);
      return fmt::format("[{}]", fmt::join(items, ", "));
    }
    std::string operator()(const std::string& text) const { return quoted(text); }
  };
  return std::visit(Writer{}, value);
}

}  // namespace

std::string study_text(const study::Study& study) {
  std::string out = fmt::format("command = {}\n", quoted(study.command));
  if (!study.seeds.empty()) out += fmt::format("seeds = [{}]\n", fmt::join(study.seeds, ", "));
  if (!study.fixed.empty()) out += "\n[fixed]\n";
  for (const auto& [name, value] : study.fixed) {
    out += fmt::format("{} = {}\n", name, value_text(value));
  }
  if (!study.axes.empty()) out += "\n[axes]\n";
  for (const study::Axis& axis : study.axes) {
    std::vector<std::string> values;
    std::transform(axis.values.begin(), axis.values.end(), std::back_inserter(values), value_text);
    out += fmt::format("{} = [{}]\n", axis.parameter, fmt::join(values, ", "));
  }
  if (!study.tied.empty()) out += "\n[tied]\n";
  for (const study::Tie& tie : study.tied) {
    out += fmt::format("{} = {}\n", tie.parameter, quoted(tie.expression));
  }
  return out;
}

}  // namespace onset::report
