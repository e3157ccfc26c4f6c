#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/mha/model/inputs.hpp"

namespace onset::mha {

/// One thing that the theorem or the phases ask of a layer.
struct Condition {
  std::string name;
  Estimate value = {};               ///< error 0: a fact about the matrices; else a sample's
  std::optional<double> bound = {};  ///< what the phases hold it against, where they do
  std::optional<bool> holds = {};
};

/// How far a layer is from degenerate, for examples of so many tokens. [mha 25, 26]
[[nodiscard]] std::vector<Condition> conditions_of(const Layer& layer, int tokens, Inputs inputs,
                                                   std::uint64_t seed, const Context& context);

}  // namespace onset::mha
