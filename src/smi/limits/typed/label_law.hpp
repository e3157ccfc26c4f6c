#pragma once

#include <cstdint>
#include <optional>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/typed_channel.hpp"

namespace onset::smi {

/// E log p(y), with the law p of labels where nothing is known: an integral over the label, exact
/// to the rule's error for one field. The free entropy elsewhere is measured from there [links 19].
/// Nothing for links whose labels are drawn there, too.
[[nodiscard]] std::optional<Estimate> label_log_density(const TypedLink& link, std::uint64_t seed,
                                                        const Context& context);

/// What a label tells of what is known, E log(Z_out / p(y)) [links 19], by quasi-Monte Carlo over
/// what is known and the label: one value per replicate.
[[nodiscard]] numerics::Replicates label_information(const TypedLink& link,
                                                     const KnownDirections& state,
                                                     TypedChannelOptions options,
                                                     const Context& context);

}  // namespace onset::smi
