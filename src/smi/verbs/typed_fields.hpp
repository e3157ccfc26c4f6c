#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/fields.hpp"
#include "onset/core/verb.hpp"
#include "smi/model/typed/typed_link.hpp"

/// Links that are typed instead of named.
namespace onset::smi {

/// Lets the field `link` take an expression.
void take_expressions(Parameter& link);

/// The text of the typed link that is meant: an expression, or that of a named link where there is
/// noise, for which its closed posterior does not hold; nothing for other models. Throws
/// InvalidArgument for a word that is no link, and Refused for a link whose noise is not offered.
[[nodiscard]] std::optional<std::string> typed_text(const std::string& link, double noise);

/// Samples of a typed link have this many tokens: those that it reads, or more where a request asks
/// for more. Throws InvalidArgument where it asks for fewer.
[[nodiscard]] std::size_t typed_tokens(const TypedLink& link, std::optional<int> tokens);

/// The expression of a link, typed or named; empty for attention and for links of several outputs.
[[nodiscard]] std::string link_expression(const std::string& link);

/// Remarks on the directions and tokens, of those up to the largest that it names, of which a link
/// says nothing because they do not occur: "z9" means nine directions.
void note_what_is_not_named(const TypedLink& link, Result& result);

}  // namespace onset::smi
