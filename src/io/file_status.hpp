#pragma once

#include <filesystem>

/// What lies at a path. Names and links come from others, so that even asking may fail: at a name
/// that is too long, a link that leads to itself, or a folder that one may not search. Then each
/// function throws IoError naming the path and the reason. The functions of std::filesystem that
/// would throw something else are called nowhere (tests/layers).
namespace onset::io {

/// Whether something is there; a link counts as what it leads to.
[[nodiscard]] bool is_there(const std::filesystem::path& path);
/// The same, but a link counts itself, wherever it leads.
[[nodiscard]] bool is_taken(const std::filesystem::path& path);
[[nodiscard]] bool is_folder(const std::filesystem::path& path);

/// Whether a plain file is there, and no link; where that cannot be told there is none.
[[nodiscard]] bool is_plain_file(const std::filesystem::path& path) noexcept;
/// Whatever is written is written to a plain file or where nothing is: not to a device or a pipe,
/// and not to a link, which somebody else may have put there to lead us elsewhere.
void require_plain_target(const std::filesystem::path& path);

/// The folder in which the program works, which may have been removed.
[[nodiscard]] std::filesystem::path current_folder();

}  // namespace onset::io
