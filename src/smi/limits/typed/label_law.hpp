#pragma once

#include <cstdint>
#include <optional>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "smi/model/typed/typed_link.hpp"

namespace onset::smi {

/// E log p(y), with the law p of labels where nothing is known: an integral over the label, exact
/// to the rule's error for one field. The free entropy elsewhere is measured from there [links 18].
/// Nothing for links whose labels are drawn there, too.
[[nodiscard]] std::optional<Estimate> label_log_density(const TypedLink& link, std::uint64_t seed,
                                                        const Context& context);

}  // namespace onset::smi
