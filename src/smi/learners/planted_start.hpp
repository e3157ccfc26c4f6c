#pragma once

#include <cstdint>

#include "smi/learners/message_passing.hpp"

namespace onset::smi {

/// A start of message passing that has the same overlap Q with the teacher in every direction and
/// is independent of the samples: weights Q w* + sqrt(Q (1 - Q)) n with standard normals n, and
/// V = 1 - Q. It lies on the Nishimori line, so that state evolution from Q holds from the first
/// iteration on [smi 88]. The data must have a teacher; `run` tells runs on the same seed apart.
[[nodiscard]] MessageStart planted_start(const Dataset& data, double overlap, std::uint64_t seed,
                                         std::uint64_t run);

}  // namespace onset::smi
