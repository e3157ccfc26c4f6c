#pragma once

#include "explore/http.hpp"
#include "io/json_text.hpp"

namespace onset::explore {

using io::Json;

[[nodiscard]] Response json_response(const Json& value, int status = http_ok);

}  // namespace onset::explore
