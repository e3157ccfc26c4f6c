#pragma once

#include "onset/ssi/model/link.hpp"

namespace onset::ssi {

/// Whether f(-z) = f(z), to rounding, at a number of random points.
[[nodiscard]] bool is_even(const Link& link);

}  // namespace onset::ssi
