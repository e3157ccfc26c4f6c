#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/drawing.hpp"

/// The one place that knows gnuplot.
namespace onset::report {

/// A script with its data inside, which draws `ID.svg`, `ID.pdf` or `ID.png` in the folder that it
/// is run in: `gnuplot -e "format='png'" ID.gp`.
[[nodiscard]] std::string gnuplot_script(const Drawing& drawing);

/// Runs the script `folder/ID.gp` for one format: "svg", "pdf" or "png". Throws IoError when
/// gnuplot is not installed (naming the package) or fails (with its message).
void run_gnuplot(const std::filesystem::path& folder, const std::string& id,
                 const std::string& format);

/// Writes ID.gp and draws ID.svg, ID.pdf and ID.png beside it; returns the pictures. Throws
/// IoError.
std::vector<std::filesystem::path> draw_pictures(const Drawing& drawing,
                                                 const std::filesystem::path& folder);

/// The text of the SVG picture; leaves no file behind. Throws IoError.
[[nodiscard]] std::string draw_svg(const Drawing& drawing);

}  // namespace onset::report
