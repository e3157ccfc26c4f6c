#pragma once

#include <cstddef>

namespace onset::numerics::simd {

/// The diagonal of softmax_rows(z z^T) for two tokens: first = sigmoid(z1 (z1 - z2)) and
/// second = sigmoid(z2 (z2 - z1)), `count` times, accurate to a few units in the last place;
/// results below exp(-700) are replaced by it. An output may be an input. This is faster than two
/// sigmoids: the logits add up to (z1 - z2)^2 >= 0, so that one division serves both and nothing
/// overflows.
void pair_softmax(const double* z1, const double* z2, std::size_t count, double* first,
                  double* second);

}  // namespace onset::numerics::simd
