#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace onset::io {

/// The largest text file (TOML, JSON, CSV, questions, matrices) that is read; a larger one is
/// surely a mistake.
inline constexpr std::size_t max_text_bytes = std::size_t{64} << 20;

/// The whole of a regular file. Folders, pipes and devices are refused, since reading those may
/// never end, and so are files of more than `most` bytes. Throws IoError naming the path.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::size_t most = max_text_bytes);

}  // namespace onset::io
