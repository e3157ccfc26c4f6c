#pragma once

#include <string>
#include <vector>

#include "onset/core/table.hpp"

namespace onset::report {

/// The rows of a study without its axis `seed`: those that differ in nothing else that was given
/// are averaged. `axes` are the columns that vary between points. An average has the scatter of the
/// seeds as its error, with Student's factor; of a single seed it stays as it is. What differs
/// between seeds and has no errors, such as a number of iterations, has no value.
[[nodiscard]] Table average_seeds(const Table& table, const std::vector<std::string>& axes);

}  // namespace onset::report
