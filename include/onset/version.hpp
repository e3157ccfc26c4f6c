#pragma once

#include <string_view>

namespace onset {

/// The version of the library, say "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace onset
