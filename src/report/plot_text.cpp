#include "report/plot_text.hpp"

namespace onset::report {
namespace {

constexpr std::string_view markup = "^_{}@&~\\";

}  // namespace

std::string plot_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string literal_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (markup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::size_t seen_length(std::string_view label) {
  std::size_t seen = 0;
  for (const char c : label) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;  // of a UTF-8 letter
    if (!continues && markup.find(c) == std::string_view::npos) ++seen;
  }
  return seen;
}

}  // namespace onset::report
