#pragma once

#include <filesystem>

namespace onset::tool {

/// Where figures and other data files lie: $ONSET_DATA, or ../share/onset as seen from the program
/// (so that an installed tree can be moved). Empty when neither is a folder.
[[nodiscard]] std::filesystem::path data_folder();

}  // namespace onset::tool
