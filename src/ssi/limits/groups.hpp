#pragma once

#include <optional>
#include <vector>

#include "onset/numerics/rough_hermite.hpp"
#include "onset/ssi/limits/spectrum.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// A part of a target that depends on few tokens.
struct TargetGroup {
  std::vector<std::size_t> tokens;
  numerics::BatchFunction function;  ///< of those tokens only
  numerics::BatchFunction switches;  ///< its kinks and jumps: see rough_hermite_series()
  int polynomial_degree = -1;        ///< -1: not a polynomial
};

/// The target as a sum of such parts: an expression is opened into its terms.
[[nodiscard]] std::vector<TargetGroup> target_groups(const Link& target);

/// An activation as a group of one variable.
[[nodiscard]] TargetGroup activation_group(const numerics::Expression& activation);

/// Nodes of the Gauss rule that is exact for the products of a polynomial with those of `degree`.
[[nodiscard]] int exact_nodes(const TargetGroup& group, std::size_t degree);

/// Throws Refused unless E f^2, by a rule and by a finer and wider one, is finite and the same.
void require_finite(double square, double wider);

/// Throws Refused if E|g|^2 or E|f|^2 is not finite, as far as terms of up to two tokens tell.
void require_square_integrable(const SequenceModel& model);

/// Exact to rounding for polynomials, smooth functions and functions with kinks and jumps, of at
/// most two variables; nothing for more. Throws Refused when E f^2 is not finite.
[[nodiscard]] std::optional<numerics::HermiteBracket> project_exactly(const TargetGroup& group,
                                                                      std::size_t degree,
                                                                      const Context& context);

/// Adds the coefficients of a group to those of the whole target.
void add_projection(const TargetGroup& group, const numerics::HermiteProjection& projection,
                    HermiteCoefficients& into);

/// How a link is projected: `rule` serves what project_exactly() does not, `fine` chooses between
/// its two projections.
struct LinkProjection {
  const numerics::Rule& rule;
  std::size_t degree = 0;
  bool fine = true;
};
/// The whole of a target or student of up to three tokens, group by group.
[[nodiscard]] numerics::HermiteProjection project_link(const Link& link, const LinkProjection& how,
                                                       const Context& context);

/// f(z + shift) of a student. Kinks and jumps are cut at, unless groups of two tokens would have to
/// be for many a shift; what is smooth is left to the rule.
[[nodiscard]] numerics::HermiteProjection project_shifted(const Link& student,
                                                          const LinkProjection& how,
                                                          const std::vector<double>& shift,
                                                          const Context& context);

/// The directional test of [ssi 10], for targets of many tokens.
[[nodiscard]] Spectrum directional_spectrum(const Link& target, std::size_t degree,
                                            const SpectrumOptions& options, const Context& context);

}  // namespace onset::ssi
