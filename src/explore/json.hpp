#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "explore/http.hpp"

namespace onset::explore {

using Json = nlohmann::ordered_json;

/// Compact text; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string json_text(const Json& value);

[[nodiscard]] Response json_response(const Json& value, int status = http_ok);

}  // namespace onset::explore
