#pragma once

#include <string>

#include "onset/study/study.hpp"

namespace onset::report {

/// A study file with this content: it is what a run of a figure would be on its own, so that its
/// store says how to compute it again.
[[nodiscard]] std::string study_text(const study::Study& study);

}  // namespace onset::report
