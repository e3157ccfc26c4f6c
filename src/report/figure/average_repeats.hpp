#pragma once

#include <string>
#include <vector>

#include "onset/core/table.hpp"

namespace onset::report {

/// A table without the columns `repeats`, which number seeds or runs: rows that differ in nothing
/// else that was given are averaged. `axes` are the columns that vary between points of a study. An
/// average has the scatter of the repeats as its error, with Student's factor; a single row stays
/// as it is. What differs between repeats and has no errors, such as a number of iterations, has no
/// value.
[[nodiscard]] Table average_repeats(const Table& table, const std::vector<std::string>& axes,
                                    const std::vector<std::string>& repeats);

}  // namespace onset::report
