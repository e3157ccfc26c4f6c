#pragma once

#include <filesystem>
#include <vector>

#include "report/figure/drawing.hpp"

namespace onset::report {

/// The columns that `overlay` names, from a CSV file with a header and plain numbers. Rows in which
/// x or y is not a finite number are left out. Throws IoError when the file cannot be read or a
/// column is not there.
[[nodiscard]] std::vector<Point> read_overlay_points(const std::filesystem::path& file,
                                                     const Overlay& overlay);

}  // namespace onset::report
