#pragma once

#include <string>
#include <string_view>

namespace onset::study {

/// SHA-256 (FIPS 180-4) as 64 hexadecimal digits. It is written out here because one function of
/// sixty lines is not worth a dependency; tests compare it with known answers.
[[nodiscard]] std::string sha256(std::string_view message);

}  // namespace onset::study
