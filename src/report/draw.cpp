#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"
#include "report/gnuplot.hpp"

namespace onset::report {
namespace {

/// A folder of its own among the temporary ones, gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "onset-XXXXXX").string();
    if (!mkdtemp(name.data())) throw IoError(name, std::generic_category().message(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_script(const Drawing& drawing, const std::filesystem::path& folder) {
  io::write_file_atomically(folder / (drawing.id + ".gp"), gnuplot_script(drawing));
}

}  // namespace

std::vector<std::filesystem::path> draw_pictures(const Drawing& drawing,
                                                 const std::filesystem::path& folder) {
  write_script(drawing, folder);
  std::vector<std::filesystem::path> pictures;
  for (const std::string format : {"svg", "pdf", "png"}) {
    run_gnuplot(folder, drawing.id, format);
    pictures.push_back(folder / fmt::format("{}.{}", drawing.id, format));
  }
  return pictures;
}

std::string draw_svg(const Drawing& drawing) {
  const TemporaryFolder folder;
  write_script(drawing, folder.path());
  run_gnuplot(folder.path(), drawing.id, "svg");
  std::ifstream in(folder.path() / (drawing.id + ".svg"), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw IoError((folder.path() / (drawing.id + ".svg")).string(), "cannot be read");
  return text.str();
}

}  // namespace onset::report
