#pragma once

#include <vector>

#include "onset/numerics/hermite.hpp"

namespace onset::numerics {

/// Adds the places in [-half_width, half_width] where a switch, a function of one variable, changes
/// sign, even if it does so twice within a step.
void add_cuts(const BatchFunction& switches, double half_width, std::vector<double>& cuts);

}  // namespace onset::numerics
