#include "tool/data_folder.hpp"

#include <cstdlib>

namespace onset::tool {

std::filesystem::path data_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char* chosen = std::getenv("ONSET_DATA")) {
    return fs::is_directory(chosen, error) ? fs::path(chosen) : fs::path{};
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = program.parent_path().parent_path() / "share" / "onset";
  return fs::is_directory(folder, error) ? folder : fs::path{};
}

}  // namespace onset::tool
