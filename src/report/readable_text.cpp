#include "report/readable_text.hpp"

#include "core/characters.hpp"

namespace onset::report {

std::string readable_text(std::string_view text) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string out;
  while (!text.empty()) {
    const auto [bytes, kind] = first_character(text);
    const bool stays = kind == CharacterKind::seen || bytes == "\n" || bytes == "\t";
    out += stays ? bytes : replacement;
    text.remove_prefix(bytes.size());
  }
  return out;
}

}  // namespace onset::report
