#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

/// JSON as text, both ways. Parser and writer are dear to compile, so that one source has them.
namespace onset::io {

using Json = nlohmann::ordered_json;

/// Throws Json::exception where the text is not JSON.
[[nodiscard]] Json parse_json(std::string_view text);
/// Is empty there instead.
[[nodiscard]] std::optional<Json> json_or_nothing(std::string_view text);

/// A name that some object of the text has twice; empty if there is none. Of two values the parser
/// keeps the last one, and other readers another. Throws as parse_json does.
[[nodiscard]] std::string repeated_name(std::string_view text);

/// What an exception says, without the mark that those of the JSON library begin with.
[[nodiscard]] std::string plain_reason(const std::exception& error);

enum class JsonLetters { any, ascii };  ///< others than ASCII as they are, or as \uXXXX

/// One line. Bytes that are not UTF-8 (a path, say) are replaced, never a reason to fail.
[[nodiscard]] std::string json_line(const Json& value, JsonLetters letters = JsonLetters::any);

/// The same with every item on a line of its own, `indent` blanks deeper than what holds it, and a
/// line break at the end.
[[nodiscard]] std::string json_lines(const Json& value, int indent);

}  // namespace onset::io
