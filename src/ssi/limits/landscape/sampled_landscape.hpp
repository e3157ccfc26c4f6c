#pragma once

#include "onset/ssi/limits/landscape.hpp"

namespace onset::ssi {

/// A landscape by quasi-Monte Carlo at every point.
[[nodiscard]] std::unique_ptr<Landscape> sampled_landscape(const SequenceModel& model,
                                                           std::uint64_t seed,
                                                           const Context& context);

}  // namespace onset::ssi
