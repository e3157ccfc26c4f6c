#pragma once

#include "aim/learners/amp.hpp"
#include "onset/core/table.hpp"

namespace onset::aim {

/// The table of trajectory.csv, without rows.
[[nodiscard]] Table trajectory_table();

/// Adds a row for each iteration of a run, counted from 1.
void add_steps(double alpha, int run, const AmpRun& amp, Table& table);

}  // namespace onset::aim
