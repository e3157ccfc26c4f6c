#pragma once

#include <filesystem>
#include <string>

#include "report/drawing.hpp"

/// The one place that knows gnuplot.
namespace onset::report {

/// A script with its data inside, which draws `ID.svg` or `ID.png` in the folder that it is run in:
/// `gnuplot -e "format='png'" ID.gp`.
[[nodiscard]] std::string gnuplot_script(const Drawing& drawing);

/// Runs the script `folder/ID.gp` for one format, "svg" or "png". Throws IoError when gnuplot is
/// not installed (naming the package) or fails (with its message).
void run_gnuplot(const std::filesystem::path& folder, const std::string& id,
                 const std::string& format);

}  // namespace onset::report
