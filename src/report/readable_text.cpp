#include "report/readable_text.hpp"

namespace onset::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The length of the UTF-8 character that begins the text; 0 where none does.
std::size_t character_length(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80U                     ? 1
                             : lead >= 0xC2U && lead < 0xE0U  ? 2
                             : lead >= 0xE0U && lead < 0xF0U  ? 3
                             : lead >= 0xF0U && lead <= 0xF4U ? 4
                                                              : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  // Invalid are forms longer than necessary, halves of UTF-16 pairs, and numbers beyond the last
  // code point.
  const unsigned second = length > 1 ? byte(1) : 0;
  if (lead == 0xE0U && second < 0xA0U) return 0;
  if (lead == 0xEDU && second >= 0xA0U) return 0;
  if (lead == 0xF0U && second < 0x90U) return 0;
  if (lead == 0xF4U && second >= 0x90U) return 0;
  return length;
}

/// Whether a character is shown: control characters are not, nor the two other code points that XML
/// forbids.
bool is_shown(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) {
    return (lead >= 0x20U && lead != 0x7FU) || lead == '\n' || lead == '\t';
  }
  if (lead == 0xC2U) return static_cast<unsigned char>(character[1]) >= 0xA0U;
  return character != "\xEF\xBF\xBE" && character != "\xEF\xBF\xBF";
}

}  // namespace

std::string readable_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    out += length > 0 && is_shown(character) ? character : replacement;
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace onset::report
