#pragma once

#include <string>
#include <string_view>

#include "io/json_text.hpp"
#include "onset/study/store.hpp"

/// JSON that brings every value back with its kind and all its bits: whole numbers, reals (always
/// with a point or exponent), {"real": "nan"} for numbers that JSON lacks, [value, error] for
/// estimates. Decoders throw some std::exception on anything else, which callers turn into IoError.
namespace onset::study::codec {

using io::Json;

[[nodiscard]] Json encode(const Cell& cell);
[[nodiscard]] Json encode(const Value& value);
[[nodiscard]] Json encode(const Parameters& parameters);
[[nodiscard]] Json encode(const Table& table);
[[nodiscard]] Json encode(const std::vector<std::pair<std::string, Cell>>& summary);

[[nodiscard]] Cell decode_cell(const Json& json);
[[nodiscard]] Value decode_value(const Json& json);
[[nodiscard]] Parameters decode_parameters(const Json& json);
[[nodiscard]] Table decode_table(const Json& json);
[[nodiscard]] std::vector<std::pair<std::string, Cell>> decode_summary(const Json& json);

/// Returns the JSON itself if it is a list; loops over anything else would quietly see one item or
/// none.
[[nodiscard]] const Json& list_of(const Json& json);

[[nodiscard]] PointStatus decode_status(const std::string& word);

}  // namespace onset::study::codec
