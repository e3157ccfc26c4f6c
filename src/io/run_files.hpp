#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/json_text.hpp"

/// Which files in a run folder are Onset's own.
namespace onset::io {

/// The pictures of a result and the script that draws them.
[[nodiscard]] const std::vector<std::string>& drawn_files();

/// The files that runs of a command may write besides, each named from the folder, but for numbered
/// ones.
[[nodiscard]] std::vector<std::string> named_files(std::string_view command);

/// Whether a run of the command may have written a file of this name. Nothing else is ever removed,
/// whatever a manifest says.
[[nodiscard]] bool is_file_of(std::string_view command, std::string_view name);

/// By what a manifest recognises the content of a file: its size, and FNV-1a of 64 bits.
[[nodiscard]] Json mark_of_content(std::string_view content);
/// The mark of what is in a file. Throws IoError naming the path.
[[nodiscard]] Json mark_of_file(const std::filesystem::path& file);
/// Whether a plain file is there whose content has that mark. Whoever does not know what is in a
/// file cannot give its mark, so that a manifest that others wrote does not make it one of ours.
[[nodiscard]] bool has_content(const std::filesystem::path& file, const Json& mark);

}  // namespace onset::io
