#include "core/characters.hpp"

#include <bit>
#include <cstddef>

namespace onset {
namespace {

/// The length in bytes of the UTF-8 character that the text begins with, and its code point; the
/// length is 0 where the text begins with none.
struct Decoded {
  std::size_t length;
  char32_t point;
};

Decoded decoded(std::string_view text) {
  constexpr Decoded none = {0, 0};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const int ones = std::countl_one(byte(0));
  if (ones == 0) return {1, byte(0)};
  const auto length = static_cast<std::size_t>(ones);
  if (length == 1 || length > 4 || length > text.size()) return none;
  char32_t point = byte(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return none;
    point = point << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < smallest[length] || point > 0x10ffff || surrogate) return none;
  return {length, point};
}

bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

bool is_unseen(char32_t point) {
  const auto within = [point](char32_t first, char32_t last) {
    return point >= first && point <= last;
  };
  return point == 0x61c || within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
         within(0x2066, 0x2069) || within(0xfffe, 0xffff);
}

}  // namespace

Character first_character(std::string_view text) {
  const auto [length, point] = decoded(text);
  if (length == 0) return {text.substr(0, 1), CharacterKind::broken};
  const CharacterKind kind = is_control(point)  ? CharacterKind::control
                             : is_unseen(point) ? CharacterKind::unseen
                                                : CharacterKind::seen;
  return {text.substr(0, length), kind};
}

}  // namespace onset
