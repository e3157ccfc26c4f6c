#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace onset::io {

/// A line `COARSE:fine text` of a label file.
struct LabelledText {
  std::string coarse;
  std::string fine;  ///< "COARSE:fine": names of fine classes repeat among coarse ones
  std::string text;  ///< Latin-1, as in the file
  std::size_t line = 0;
};

/// Reads questions in the format of the TREC question classification sets (Latin-1, one per line,
/// blank lines ignored). Throws IoError naming the path, the line, what it holds and what is
/// allowed, and also when there is no question at all.
[[nodiscard]] std::vector<LabelledText> read_label_file(const std::filesystem::path& path);

/// The place "path:line" of a text, so that a mistake found later still says where it comes from.
[[nodiscard]] std::string place_of(const std::filesystem::path& path, const LabelledText& text);

}  // namespace onset::io
