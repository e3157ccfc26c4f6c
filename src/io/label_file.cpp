#include "io/label_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

#include "core/printable.hpp"
#include "io/read_file.hpp"
#include "onset/core/error.hpp"

namespace onset::io {
namespace {

constexpr std::string_view blanks = " \t";
/// Some editors put this before the first line.
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Control characters, which no text has; the rest of Latin-1 may stand in a question.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

bool is_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || c == '_' || c == '-');
  });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

LabelledText parse_line(std::string_view line, const std::string& place) {
  const auto wrong = [&](std::string_view why) {
    throw IoError(place, fmt::format("{} {}; allowed: COARSE:fine text, say 'LOC:city What is "
                                     "the capital of Peru ?'",
                                     in_quotes(line), why));
  };
  if (std::any_of(line.begin(), line.end(), is_control)) wrong("has a control character");
  const std::string_view label = line.substr(0, line.find_first_of(blanks));
  const std::string_view text = trimmed(line.substr(label.size()));
  const std::size_t colon = label.find(':');
  if (colon == std::string_view::npos) wrong("does not start with a label");
  if (!is_name(label.substr(0, colon))) wrong("has no name of a class before its colon");
  if (!is_name(label.substr(colon + 1))) wrong("has no name of a fine class after its colon");
  if (text.empty()) wrong("has no text after its label");
  return {std::string(label.substr(0, colon)), std::string(label), std::string(text), 0};
}

}  // namespace

std::string place_of(const std::filesystem::path& path, const LabelledText& text) {
  return fmt::format("{}:{}", path.string(), text.line);
}

std::vector<LabelledText> read_label_file(const std::filesystem::path& path) {
  std::istringstream in(read_file(path));
  std::vector<LabelledText> list;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    const std::string_view content = trimmed(line);
    if (content.empty()) continue;
    list.push_back(parse_line(content, fmt::format("{}:{}", path.string(), number)));
    list.back().line = number;
  }
  if (list.empty()) {
    throw IoError(path.string(), "has no question; allowed: lines 'COARSE:fine text'");
  }
  return list;
}

}  // namespace onset::io
