#pragma once

#include <filesystem>
#include <string>

#include "mha/model/certificate.hpp"

namespace onset::mha {

/// The content of certificate.json.
[[nodiscard]] std::string certificate_text(const Certificate& certificate);
/// Strict: throws IoError naming the field that is missing, unknown, or of a wrong kind.
[[nodiscard]] Certificate read_certificate(const std::filesystem::path& folder);
[[nodiscard]] std::string certificate_path(const std::filesystem::path& folder);

}  // namespace onset::mha
