#include "mha/verbs/instance_fields.hpp"

#include <fmt/format.h>

#include "onset/core/error.hpp"

namespace onset::mha {

InstanceLaw checked_law(InstanceLaw law, const std::optional<double>& degree) {
  if (degree && !is_pulled(law.degeneracy)) {
    throw InvalidArgument("--degree", fmt::format("has no effect with --degenerate {}; allowed: "
                                                  "with --degenerate cancelling or proportional",
                                                  to_string(law.degeneracy)));
  }
  law.degree = degree.value_or(law.degree);
  try {
    law.validate();
  } catch (const InvalidArgument& wrong) {
    const std::string message = wrong.what();
    throw InvalidArgument("--" + wrong.field(), message.substr(wrong.field().size() + 2));
  }
  return law;
}

}  // namespace onset::mha
