#pragma once

#include <span>
#include <string_view>

#include "onset/core/verb.hpp"

namespace onset {

/// Every verb of every family, in the order in which help lists them.
[[nodiscard]] std::span<const Verb> catalog();

/// The verb `family name`; throws InvalidArgument with the nearest one when there is none.
[[nodiscard]] const Verb& find_verb(std::string_view family, std::string_view name);

}  // namespace onset
