#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "onset/io/format.hpp"

namespace onset::io::detail {

using Json = nlohmann::ordered_json;

/// schema, onset, command, parameters, seed: what result and manifest begin with.
[[nodiscard]] Json record_head(const RunRecord& record);
/// summary, status, reason, notes, seconds: what they end with.
void append_record_tail(Json& object, const RunRecord& record);

[[nodiscard]] Json value_json(const Value& value);
/// Indented text; bytes that are not UTF-8 (a path, say) are replaced, never a reason to fail.
[[nodiscard]] std::string dump(const Json& object);

}  // namespace onset::io::detail
