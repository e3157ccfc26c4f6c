#pragma once

#include "onset/ssi/model/link.hpp"

namespace onset::ssi {

/// Whether f(-z) = f(z), to rounding, at a number of random points.
[[nodiscard]] bool is_even(const Link& link);

/// Whether all its derivatives are 0, at 64 random points.
[[nodiscard]] bool is_flat(const Link& link);

/// Whether a link of one output stays the same when any two tokens are exchanged, at one point.
[[nodiscard]] bool treats_tokens_alike(const Link& link);

}  // namespace onset::ssi
