#pragma once

#include <cstddef>
#include <functional>

#include "onset/core/context.hpp"

namespace onset::numerics {

/// Runs body(0), .., body(count-1) on context.threads threads. Which thread runs which index is not
/// fixed, so a body writes only to its own slot; with that the result is the same bit for bit for
/// any number of threads. Choose indices by the problem (say, replicate x block of 256 points),
/// never by the machine. Polls context.stop between indices and throws Interrupted; the first
/// exception of a body is rethrown here after all threads have ended.
void parallel_for(const Context& context, std::size_t count,
                  const std::function<void(std::size_t)>& body);

/// The sum of the values in a fixed pairwise order: the same bits however they were computed.
[[nodiscard]] double ordered_sum(const double* values, std::size_t count);

}  // namespace onset::numerics
