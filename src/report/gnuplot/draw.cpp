#include <fmt/format.h>

#include "onset/core/error.hpp"
#include "onset/io/run_folder.hpp"
#include "report/drawing_failed.hpp"
#include "report/gnuplot/gnuplot.hpp"

namespace onset::report {
namespace {

/// Adds the name of each file to `drawn` when it is there.
void draw_files(const Drawing& drawing, const std::filesystem::path& folder,
                const std::stop_token& stop, std::vector<std::string>& drawn) {
  const std::string script = gnuplot_script(drawing);
  const auto write = [&](const std::string& format, const std::string& content) {
    const std::string name = fmt::format("{}.{}", drawing.id, format);
    io::write_file_atomically(folder / name, content);
    drawn.push_back(name);
  };
  write("gp", script);
  for (const std::string format : {"svg", "pdf", "png"}) {
    write(format, run_gnuplot(script, format, stop));
  }
}

}  // namespace

std::vector<std::filesystem::path> draw_pictures(const Drawing& drawing,
                                                 const std::filesystem::path& folder,
                                                 const std::stop_token& stop) {
  std::vector<std::string> drawn;
  draw_files(drawing, folder, stop, drawn);
  std::vector<std::filesystem::path> pictures;
  // The script comes first and is no picture.
  for (std::size_t i = 1; i < drawn.size(); ++i) pictures.push_back(folder / drawn[i]);
  return pictures;
}

void draw_run(const Drawing& drawing, const std::filesystem::path& folder,
              const std::stop_token& stop) {
  std::vector<std::string> drawn;
  try {
    draw_files(drawing, folder, stop, drawn);
  } catch (const DrawingFailed&) {
    io::record_pictures(folder, drawn);
    throw;
  } catch (const Interrupted&) {
    io::record_pictures(folder, drawn);
    throw;
  }
  io::record_pictures(folder, drawn);
}

}  // namespace onset::report
