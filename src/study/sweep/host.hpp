#pragma once

#include <string>

namespace onset::study {

[[nodiscard]] std::string host_name();
/// The present time in UTC as ISO 8601 writes it, say 2025-11-15T12:00:00Z.
[[nodiscard]] std::string utc_now();

}  // namespace onset::study
