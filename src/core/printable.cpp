#include "core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace onset {
namespace {

/// The length in bytes of the UTF-8 character that the text begins with; 0 when it begins with
/// none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const int ones = std::countl_one(byte(0));
  if (ones == 0) return 1;
  const auto length = static_cast<std::size_t>(ones);
  if (length == 1 || length > 4 || length > text.size()) return 0;
  char32_t point = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
    point = point << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < smallest[length] || point > 0x10ffff || surrogate ? 0 : length;
}

/// Whether it is one of Unicode's first or second set of control characters, which terminals obey.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

/// Whether it orders a reader's eyes rather than being seen: Unicode's marks that turn the
/// direction of a text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), with which one
/// name is made to look like another, and its ends of lines and paragraphs (U+2028, U+2029).
bool is_unseen(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character == "\xd8\x9c") return true;
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  const unsigned last = byte(2);
  if (byte(1) == 0x80) return last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae);
  return byte(1) == 0x81 && last >= 0xa6 && last <= 0xa9;
}

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

/// One string for each character as it is shown; `as_is` are control characters that may stay.
std::vector<std::string> shown_characters(std::string_view text, std::string_view as_is) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const bool stays = length > 0 && !is_unseen(character) &&
                       (!is_control(character) || as_is.find(character) != std::string_view::npos);
    out.push_back(stays ? std::string(character) : escaped(character));
    text.remove_prefix(character.size());
  }
  return out;
}

std::string shown(std::string_view text, std::size_t most, std::string_view as_is) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (plain && text.size() <= most) return std::string(text);  // nearly every text, and many
  const std::vector<std::string> all = shown_characters(text, as_is);
  if (all.size() <= most) return fmt::format("{}", fmt::join(all, ""));
  const auto head = static_cast<std::ptrdiff_t>(most / 2);
  const auto tail = static_cast<std::ptrdiff_t>(most) - head;
  return fmt::format("{} .. ({} more) .. {}", fmt::join(all.begin(), all.begin() + head, ""),
                     all.size() - most, fmt::join(all.end() - tail, all.end(), ""));
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  return shown(text, most, "\n\t");
}

std::string one_line(std::string_view text, std::size_t most) {
  return shown(text, most, "");
}

std::string in_quotes(std::string_view text) {
  return fmt::format("'{}'", one_line(text));
}

}  // namespace onset
