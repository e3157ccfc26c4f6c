#pragma once

#include <string_view>

namespace onset {

/// What a character of somebody's text does where it is shown.
enum class CharacterKind {
  seen,     ///< it is read, or is a space
  control,  ///< terminals and programs obey it: Unicode's first and second set of control
            ///< characters
  unseen,   ///< it orders a reader's eyes rather than being seen
  broken,   ///< a byte that begins no UTF-8 character
};

struct Character {
  std::string_view bytes;
  CharacterKind kind;
};

/// The character that a text begins with, which must not be empty. Unseen are Unicode's marks that
/// turn the direction of a text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), with
/// which one name is made to look like another, its ends of lines and paragraphs (U+2028, U+2029),
/// and the code points that are no characters and that XML forbids (U+FFFE, U+FFFF).
[[nodiscard]] Character first_character(std::string_view text);

}  // namespace onset
