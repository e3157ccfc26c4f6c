#pragma once

#include <algorithm>
#include <cctype>
#include <string>

#include "core/suggestion.hpp"
#include "smi/model/typed/typed_link.hpp"
#include "smi/verbs/model_fields.hpp"

/// Links that are typed instead of named.
namespace onset::smi {

/// Whether a link is an expression and not a word of the list.
[[nodiscard]] bool is_typed(const std::string& link);

/// Lets the field `link` take an expression.
template <class Request>
void take_typed_links(Fields<Request>& fields) {
  Parameter& link = fields.edit("link");
  link.kind = ParameterKind::text;
  link.text = prose(R"(
      A multi-index model instead of deep attention: a link by name, or an expression of the fields
      z1, z2, .. (z1_1, z1_2, .. with tokens) and of noise fields e1, e2, ..)");
}

/// The link of a request that has typed one. Throws InvalidArgument and Refused.
template <class Request>
[[nodiscard]] TypedLink typed_link(const Request& request) {
  TypedLink link(request.link, request.noise);
  const Parameters given = model_fields<Request>().write(request);
  const auto usual = usual_model();
  for (const auto& [name, value] : given.values()) {
    if (name == "link" || name == "noise" || name == "tokens" || value == usual.at(name)) continue;
    throw InvalidArgument(field_name(name), prose(R"(
        describes deep attention and has no meaning with `link`; allowed: leaving it out)"));
  }
  const auto tokens = static_cast<std::size_t>(request.tokens);
  if (link.tokens() > tokens && request.tokens != std::get<std::int64_t>(usual.at("tokens"))) {
    throw InvalidArgument("tokens", std::to_string(tokens) + " is less than the token " +
                                        std::to_string(link.tokens()) +
                                        " that the link reads; allowed: leaving it out, or more");
  }
  return link;
}

}  // namespace onset::smi
