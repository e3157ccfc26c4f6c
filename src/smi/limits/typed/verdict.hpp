#pragma once

#include <string_view>

#include "onset/core/estimate.hpp"

namespace onset::smi {

/// What errors allow to say of a weight that is 0 or positive [links 7].
enum class Verdict { present, absent, unresolved };

/// Why the degrees below one are absent: symmetries exclude them, or their weights are too small to
/// be told from 0.
enum class LowerDegrees { excluded, small };

/// What is left of the error of an integral over the label where its scatter is smaller.
inline constexpr double exact_error = 1e-9;
/// Rounding of integrals over one field, which have no scatter: weights below exact_error that are
/// known to such an error are told from 0.
inline constexpr double one_field_error = 1e-12;
/// A weight is there above this many of its standard errors.
inline constexpr double present_errors = 6.0;
/// Eigenvalues below this part of the largest are not taken into a range.
inline constexpr double range_part = 1e-3;

[[nodiscard]] Verdict verdict(const Estimate& weight, LowerDegrees lower = LowerDegrees::excluded);
[[nodiscard]] std::string_view to_string(Verdict verdict);

}  // namespace onset::smi
