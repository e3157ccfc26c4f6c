#include "report/gnuplot/plot_text.hpp"

#include "report/readable_text.hpp"

namespace onset::report {
namespace {

constexpr std::string_view markup = "^_{}@&~\\";
// Two quotes inside quotes stand for one, but not at the beginning of a string, where gnuplot takes
// them for an empty one. The typographic apostrophe U+2019 looks the same and ends nothing.
constexpr std::string_view apostrophe = "\xE2\x80\x99";
constexpr std::string_view font_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+.:=*";

bool is_markup(char c) {
  return markup.find(c) != std::string_view::npos;
}

/// Whether text that begins with '{' names no font, or a plain one: "{/Symbol ", "{/:Bold=12 ".
bool has_plain_font(std::string_view text) {
  if (!text.starts_with("{/")) return true;
  const std::size_t end = text.find_first_not_of(font_characters, 2);
  return end != std::string_view::npos && (text[end] == ' ' || text[end] == '}');
}

}  // namespace

std::string plot_text(std::string_view text) {
  const std::string readable = readable_text(text);
  const std::string_view in = readable;
  std::string out = "'";
  for (std::size_t i = 0; i < in.size(); ++i) {
    const char c = in[i];
    if (c == '\\') {
      // Escapes of markup stay. Any other backslash would start the code of a character.
      const bool escapes = i + 1 < in.size() && is_markup(in[i + 1]);
      out += '\\';
      out += escapes ? in[++i] : '\\';
    } else if (c == '{' && !has_plain_font(in.substr(i))) {
      out += "\\{";
    } else if (c == '\'') {
      out += apostrophe;
    } else {
      // XML forbids these three characters in a row, and gnuplot does not escape the last.
      if (c == '>' && out.ends_with("]]")) out += ' ';
      out += c == '\n' || c == '\t' ? ' ' : c;
    }
  }
  return out + "'";
}

std::string literal_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_markup(c)) out += '\\';
    out += c;
  }
  return out;
}

std::size_t seen_length(std::string_view label) {
  std::size_t seen = 0;
  for (const char c : label) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // a UTF-8 letter
    if (!continues && !is_markup(c)) ++seen;
  }
  return seen;
}

}  // namespace onset::report
