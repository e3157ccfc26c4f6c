#pragma once

#include <cstddef>

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/risk.hpp"

namespace onset::aim {

/// The rate above which the teacher is unstable under SGD in large dimension: noise makes an error
/// next to it grow [aim 70]. Infinite for hardmax labels, whose students never settle at it. At
/// finite dimension SGD loses stability earlier.
[[nodiscard]] double max_stable_rate(const FlowModel& model, const Risk& risk);

/// The share of that rate which is left at dimension d, by linear labels of one token [aim 105]:
/// exactly for a direct student, and up to 1/d^2 for a tied one of the teacher's width, which
/// stands for an untied one too. More tokens leave somewhat less. It takes some d^2 operations, and
/// those of d = 200 above that.
[[nodiscard]] double stable_share(Student student, double rho, std::size_t dim);

}  // namespace onset::aim
