#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mha/model/instance.hpp"
#include "onset/core/make_folder.hpp"
#include "onset/core/make_parameter.hpp"
#include "onset/core/verb.hpp"

namespace onset::mha {

/// The parameters of a random instance, and the instance that they describe. Throws
/// InvalidArgument naming the option.
[[nodiscard]] std::vector<Parameter> instance_parameters();
[[nodiscard]] InstanceLaw read_instance(const Parameters& p);

/// Estimated work and memory of learning from `count` examples.
[[nodiscard]] Cost learning_cost(double count, int tokens, int dim, int heads);

/// The number when there is one, to four digits: these say how large something is, and no more.
[[nodiscard]] Cell cell(const std::optional<double>& value);

}  // namespace onset::mha
