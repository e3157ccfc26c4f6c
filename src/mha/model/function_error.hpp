#pragma once

#include <cstdint>

#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"

namespace onset::mha {

/// |F_found - F| / |F| on 4096 fresh inputs, with the scatter of 16 batches of them.
[[nodiscard]] Estimate function_error(const Layer& found, const Layer& truth, int tokens,
                                      std::uint64_t seed, const Context& context);

}  // namespace onset::mha
