#pragma once

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/risk.hpp"

namespace onset::aim {

/// The rate above which the teacher is unstable under SGD in large dimension: noise makes an error
/// next to it grow [aim 70]. Infinite for hardmax labels, whose students never settle at it. At
/// finite dimension SGD loses stability earlier, by 9/d and more.
[[nodiscard]] double max_stable_rate(const FlowModel& model, const Risk& risk);

}  // namespace onset::aim
