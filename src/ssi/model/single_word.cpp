#include "ssi/model/single_word.hpp"

#include <cctype>

namespace onset::ssi {

bool is_single_word(const std::string& text) {
  for (const char c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) && text != "u" &&
         text != "pi" && text != "L";
}

}  // namespace onset::ssi
