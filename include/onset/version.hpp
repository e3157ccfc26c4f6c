#pragma once

#include <string_view>

#define ONSET_VERSION_MAJOR 0
#define ONSET_VERSION_MINOR 1
#define ONSET_VERSION_PATCH 0

namespace onset {

/// The version of the library, say "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace onset
