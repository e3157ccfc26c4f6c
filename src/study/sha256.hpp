#pragma once

#include <string>
#include <string_view>

namespace onset::study {

/// SHA-256 (FIPS 180-4) as 64 hexadecimal digits. Written out here because a dependency for one
/// function of sixty lines is not worth it; tests hold it against known answers.
[[nodiscard]] std::string sha256(std::string_view message);

}  // namespace onset::study
