#pragma once

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "report/figure/drawing.hpp"

/// The one place that knows gnuplot.
namespace onset::report {

/// A script with its data inside, which draws `ID.svg`, `ID.pdf` or `ID.png` in the folder that it
/// is run in: `gnuplot -e "format='png'" ID.gp`. The id has letters, digits, '-', '_' and '.' only;
/// throws InvalidArgument for another.
[[nodiscard]] std::string gnuplot_script(const Drawing& drawing);

/// The picture that the script draws in one format: "svg", "pdf" or "png". No file is made on the
/// way. Throws DrawingFailed when gnuplot is not installed (naming the package), fails (with its
/// message), takes longer than `longest` or gives half a picture, and Interrupted when a stop is
/// requested. A picture takes a second or so; one that takes minutes will never be finished.
[[nodiscard]] std::string run_gnuplot(const std::string& script, const std::string& format,
                                      const std::stop_token& stop,
                                      std::chrono::milliseconds longest = std::chrono::minutes(2));

/// Writes ID.gp and draws ID.svg, ID.pdf and ID.png beside it; returns the pictures. Each file
/// appears whole or not at all. Throws as run_gnuplot() does, and IoError.
std::vector<std::filesystem::path> draw_pictures(const Drawing& drawing,
                                                 const std::filesystem::path& folder,
                                                 const std::stop_token& stop);

/// The same for the drawing `figure` of a run, whose manifest is then told which files were drawn,
/// also when an exception says that not all were.
void draw_run(const Drawing& drawing, const std::filesystem::path& folder,
              const std::stop_token& stop);

}  // namespace onset::report
