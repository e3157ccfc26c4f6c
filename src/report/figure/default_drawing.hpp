#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onset/core/table.hpp"
#include "report/figure/drawing.hpp"

namespace onset::report {

/// A table that nobody wrote a figure file for.
struct Plottable {
  const Table* table = nullptr;
  std::string primary;            ///< the column that matters most; drawn first
  std::vector<std::string> axes;  ///< parameters that vary between rows, where they are columns
};

/// How such a table is drawn:
///
/// - against the verb's own grid, which is the first column of numbers before any estimate, or else
///   against the axis with the most values;
/// - one curve for each combination of the other axes and of the words in other columns; then each
///   estimate column has its panel, else columns of one unit share one;
/// - as a map when the first two columns of numbers are a grid;
/// - averaged over seeds, where these are an axis, and over the runs of a verb that numbers them in
///   a column `run`, with the error of the average.
///
/// Returns nothing when there is nothing to draw against, as in a table of thresholds.
[[nodiscard]] std::optional<Drawing> default_drawing(const std::string& id,
                                                     const Plottable& plottable);

}  // namespace onset::report
