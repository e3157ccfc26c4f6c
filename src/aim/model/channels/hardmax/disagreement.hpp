#pragma once

namespace onset::aim {

/// The probability that a row of a hardmax label changes when the scores are replaced by others of
/// the same shape that have this correlation with them, entry by entry [aim 78].
[[nodiscard]] double row_disagreement(double correlation, int tokens);

}  // namespace onset::aim
