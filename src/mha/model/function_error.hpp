#pragma once

#include <cstdint>

#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/mha/model/inputs.hpp"

namespace onset::mha {

/// |F_found - F| / |F| on 4096 fresh inputs of `tokens` tokens, with the scatter of 16 batches of
/// them.
[[nodiscard]] Estimate function_error(const Layer& found, const Layer& truth, int tokens,
                                      Inputs inputs, std::uint64_t seed, const Context& context);

}  // namespace onset::mha
