#include <fmt/format.h>

#include "onset/io/run_folder.hpp"
#include "report/gnuplot/gnuplot.hpp"

namespace onset::report {

std::vector<std::filesystem::path> draw_pictures(const Drawing& drawing,
                                                 const std::filesystem::path& folder,
                                                 const std::stop_token& stop) {
  const std::string script = gnuplot_script(drawing);
  io::write_file_atomically(folder / (drawing.id + ".gp"), script);
  std::vector<std::filesystem::path> pictures;
  for (const std::string format : {"svg", "pdf", "png"}) {
    pictures.push_back(folder / fmt::format("{}.{}", drawing.id, format));
    io::write_file_atomically(pictures.back(), run_gnuplot(script, format, stop));
  }
  return pictures;
}

}  // namespace onset::report
