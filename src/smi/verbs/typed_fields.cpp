#include "smi/verbs/typed_fields.hpp"

#include <fmt/format.h>

#include "core/printable.hpp"

namespace onset::smi {

bool is_typed(const std::string& link) {
  const std::vector<std::string> words = link_words();
  if (std::find(words.begin(), words.end(), link) != words.end()) return false;
  // A word that is none of the list, and has nothing of an expression, is a misspelt name.
  const bool is_word = std::all_of(link.begin(), link.end(), [](unsigned char c) {
    return std::isalpha(c) != 0 || c == '-' || c == '_';
  });
  if (is_word) {
    throw InvalidArgument(
        "link",
        prose("{} is not a named link, and not an expression of z1, z2, ..; allowed: {}, or "
              "an expression{}",
              in_quotes(link), fmt::join(words, ", "), suggestion(link, words)));
  }
  return true;
}

}  // namespace onset::smi
