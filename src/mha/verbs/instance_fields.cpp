#include "mha/verbs/instance_fields.hpp"

#include "core/prose.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {

InstanceLaw checked_law(InstanceLaw law, const std::optional<double>& degree) {
  if (degree && !is_pulled(law.degeneracy)) {
    throw InvalidArgument("degree", prose(R"(
        has no effect with `degenerate = {}`;
        allowed: with `degenerate = cancelling or proportional`)",
                                          to_string(law.degeneracy)));
  }
  law.degree = degree.value_or(law.degree);
  law.validate();
  return law;
}

}  // namespace onset::mha
