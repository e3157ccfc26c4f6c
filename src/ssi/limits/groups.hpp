#pragma once

#include <vector>

#include "onset/ssi/limits/spectrum.hpp"

namespace onset::ssi {

/// A part of a target that depends on few tokens.
struct TargetGroup {
  std::vector<std::size_t> tokens;
  numerics::BatchFunction function;  ///< of those tokens only
  int polynomial_degree = -1;        ///< -1: not a polynomial
};

/// The target as a sum of such parts: an expression is opened into its terms.
[[nodiscard]] std::vector<TargetGroup> target_groups(const Link& target);

/// Adds the projection of a group to the coefficients; returns what the series leaves out of E f^2.
struct GroupSums {
  double square = 0.0;
  double rest = 0.0;
};
[[nodiscard]] GroupSums add_projection(const TargetGroup& group, const numerics::Rule& rule,
                                       std::size_t degree, HermiteCoefficients& into);

/// The directional test of [ssi 10], for targets of many tokens.
[[nodiscard]] Spectrum directional_spectrum(const Link& target, std::size_t degree,
                                            const SpectrumOptions& options, const Context& context);

}  // namespace onset::ssi
