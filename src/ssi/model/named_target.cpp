#include <algorithm>
#include <cctype>

#include "core/suggestion.hpp"
#include "onset/ssi/model/link.hpp"
#include "ssi/model/single_word.hpp"

namespace onset::ssi {
namespace {

/// Turns "H2sum" into "sum(h2(z))" and "He4sum" into "sum(He4(z))"; anything else stays.
std::string named_sum(const std::string& text) {
  if (!is_single_word(text) || !text.starts_with("H") || !text.ends_with("sum")) return text;
  const bool plain = text.starts_with("He");
  const std::string order = text.substr(plain ? 2 : 1, text.size() - (plain ? 5 : 4));
  return "sum(" + std::string(plain ? "He" : "h") + order + "(z))";
}

/// Throws a better message if the word at a mistake is a named target, or the text nearly one.
void explain_name(const std::string& text, std::size_t place) {
  std::size_t end = place;
  while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
  const std::string word = text.substr(std::min(place, text.size()), end - place);
  if (word != text && (word == "softmax" || named_sum(word) != word)) {
    throw numerics::SyntaxError(
        text, place,
        "the named target '" + word + "' stands alone" +
            (word == "softmax" ? "" : "; in an expression write " + named_sum(word)));
  }
  if (word != text) return;
  std::vector<std::string> names{"softmax"};
  for (int order = 1; order < 10; ++order) {
    for (const char* kind : {"H", "He"}) names.push_back(kind + std::to_string(order) + "sum");
  }
  const std::string hint = suggestion(text, names);
  if (hint.empty()) return;
  throw numerics::SyntaxError(
      text, 0,
      "no target '" + text + "'; allowed: softmax, H2sum, He4sum, .., or an expression" + hint);
}

}  // namespace

LinkPointer read_target(const std::string& text, std::size_t tokens) {
  if (text == "softmax") return attention_link({tokens, Reduction::none, {}, {}});
  try {
    return expression_link(named_sum(text), tokens);
  } catch (const numerics::SyntaxError& e) {
    explain_name(text, e.position());
    throw;
  }
}

}  // namespace onset::ssi
