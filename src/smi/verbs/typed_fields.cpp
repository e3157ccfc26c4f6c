#include "smi/verbs/typed_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "core/printable.hpp"
#include "core/prose.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "smi/model/links.hpp"
#include "smi/verbs/named_model.hpp"

namespace onset::smi {
namespace {

/// The numbers from 0 to below `count` that are not in `named`, as people count them.
std::vector<std::string> missing(const std::set<std::size_t>& named, std::size_t count,
                                 const std::string& letter) {
  std::vector<std::string> out;
  for (std::size_t k = 0; k < count; ++k) {
    if (!named.contains(k)) out.push_back(letter + std::to_string(k + 1));
  }
  return out;
}

}  // namespace

void take_expressions(Parameter& link) {
  link.kind = ParameterKind::text;
  link.text = prose(R"(
      A multi-index model instead of deep attention: a link by name, or an expression of the fields
      z1, z2, .. (z1_1, z1_2, .. with tokens) and of noise fields e1, e2, ..)");
}

std::optional<std::string> typed_text(const std::string& link, double noise) {
  const auto& named = links();
  const auto found =
      std::find_if(named.begin(), named.end(), [&](const LinkInfo& i) { return i.name == link; });
  if (found != named.end()) {
    if (!(noise > 0.0)) return std::nullopt;
    if (!found->expression.empty()) return found->expression;
    throw Refused(
        prose("the link {} has no expression of which noise could be part; allowed: "
              "attention of one layer with noise as `layers = 1`",
              link));
  }
  if (link == "none") return std::nullopt;
  // A word that is none of the list, and has nothing of an expression, is a misspelt name.
  const bool is_word = std::all_of(link.begin(), link.end(), [](unsigned char c) {
    return std::isalpha(c) != 0 || c == '-' || c == '_';
  });
  if (!is_word) return link;
  const std::vector<std::string> words = link_words();
  throw InvalidArgument(
      "link", prose("{} is not a named link, and not an expression of z1, z2, ..; allowed: {}, or "
                    "an expression{}",
                    in_quotes(link), fmt::join(words, ", "), suggestion(link, words)));
}

std::size_t typed_tokens(const TypedLink& link, std::optional<int> tokens) {
  if (!tokens) return link.tokens();
  if (link.tokens() > static_cast<std::size_t>(*tokens)) {
    throw InvalidArgument("tokens", prose(R"(
        {} is less than the token {} that the link reads; allowed: leaving it out, or more)",
                                          *tokens, link.tokens()));
  }
  return static_cast<std::size_t>(*tokens);
}

std::string link_expression(const std::string& link) {
  const auto& named = links();
  const auto found =
      std::find_if(named.begin(), named.end(), [&](const LinkInfo& i) { return i.name == link; });
  if (found != named.end()) return found->expression;
  return typed_text(link, 0.0).value_or("");
}

void note_what_is_not_named(const TypedLink& link, Result& result) {
  std::set<std::size_t> directions, tokens;
  for (const TypedField& field : link.fields()) {
    if (!field.direction) continue;
    directions.insert(*field.direction);
    tokens.insert(field.token);
  }
  const auto note = [&result](const std::vector<std::string>& which, const std::string& what) {
    if (which.empty()) return;
    result.notes.push_back(prose(R"(
        The link does not name {}: {} are numbered from 1 on, and its labels say nothing of these.)",
                                 fmt::join(which, ", "), what));
  };
  note(missing(directions, link.directions(), "z"), "directions");
  note(missing(tokens, link.tokens(), "token "), "tokens");
}

}  // namespace onset::smi
