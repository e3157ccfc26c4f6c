#pragma once

namespace onset::aim {

/// The probability that a row of a hardmax label changes when the scores are replaced by others of
/// the same shape whose correlation with them, entry by entry, is the cosine of `angle`, from 0 to
/// pi [aim 78]. An angle keeps the digits of small shares, which a correlation near 1 has not.
/// Relative errors: rounding for two tokens, 1e-9 for more.
[[nodiscard]] double row_disagreement(double angle, int tokens);

}  // namespace onset::aim
