#pragma once

#include <string>

#include "report/figure_spec.hpp"

namespace onset::report {

/// The colour of a curve as #rrggbb: one of the eight that can be told apart, or a place on the
/// scale from dark to light of curves that are too many for these.
[[nodiscard]] std::string look_colour(const Look& look);

}  // namespace onset::report
