#pragma once

#include <vector>

#include "numerics/quadrature/rough_hermite.hpp"
#include "onset/ssi/model/link.hpp"

namespace onset::ssi {

/// How a link is projected: `rule` serves what project_exactly() does not, `fine` chooses between
/// its two projections.
struct LinkProjection {
  const numerics::Rule& rule;
  std::size_t degree = 0;
  bool fine = true;
};
/// The whole of a target or student of up to three tokens, part by part.
[[nodiscard]] numerics::HermiteProjection project_link(const Link& link, const LinkProjection& how,
                                                       const Context& context);

/// Projects f(z + shift) of a student. Lines are cut at kinks and jumps, unless parts of two tokens
/// would have to be cut for many shifts; what is smooth is left to the rule.
[[nodiscard]] numerics::HermiteProjection project_shifted(const Link& student,
                                                          const LinkProjection& how,
                                                          const std::vector<double>& shift,
                                                          const Context& context);

}  // namespace onset::ssi
