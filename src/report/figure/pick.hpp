#pragma once

#include <string>
#include <vector>

#include "onset/core/table.hpp"
#include "report/figure/drawing.hpp"

/// From rows of a table to things to draw.
namespace onset::report {

/// Colour and mark of the curve with that index among curves that have none of their own.
[[nodiscard]] Colour curve_colour(std::size_t index);
[[nodiscard]] Mark curve_mark(std::size_t index);

/// The curves of a series: one, or one for each combination of values of its group. Points without
/// a finite x and y have no place on paper and are left out.
[[nodiscard]] std::vector<Curve> pick_curves(const Series& series, const Table& table);

/// Throws InvalidArgument with the place of the map when two rows want the same place.
[[nodiscard]] Shades pick_shades(const Map& map, const Table& table);

/// A vertical line for every row that the filter keeps.
[[nodiscard]] std::vector<GuideLine> pick_guides(const Guide& guide, const Table& table);

/// Whether the columns of the row have the values that the filter names.
[[nodiscard]] bool keeps(const Table& table, std::size_t row, const Filter& filter);

/// A cell as a label shows it: the value of an estimate, or "" when there is no value.
[[nodiscard]] std::string label_text(const Cell& cell);

}  // namespace onset::report
