#pragma once

#include <optional>
#include <vector>

#include "numerics/quadrature/rough_hermite.hpp"
#include "onset/ssi/limits/spectrum.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// A part of a target or student that depends on few tokens.
struct TokenPart {
  std::vector<std::size_t> tokens;
  numerics::BatchFunction function;  ///< a function of those tokens only
  numerics::BatchFunction switches;  ///< its kinks and jumps: see rough_hermite_series()
  int polynomial_degree = -1;        ///< -1 if it is not a polynomial
};

/// A link as a sum of such parts: an expression is opened into its terms.
[[nodiscard]] std::vector<TokenPart> token_parts(const Link& link);

/// An activation as a part of one variable.
[[nodiscard]] TokenPart activation_part(const numerics::Expression& activation);

/// The number of nodes of the Gauss rule that is exact for the product of this polynomial with one
/// of `degree`.
[[nodiscard]] int exact_nodes(const TokenPart& part, std::size_t degree);

/// Throws Refused unless E f^2, by a rule and by a finer and wider one, is finite and the same.
void require_finite(double square, double wider);

/// Throws Refused if E|g|^2 or E|f|^2 is not finite, as far as terms of up to two tokens tell.
void require_square_integrable(const SequenceModel& model);

/// Projects, exactly to rounding, polynomials, smooth functions and functions with kinks and jumps,
/// of at most two variables; returns nothing for more. Throws Refused when E f^2 is not finite.
[[nodiscard]] std::optional<numerics::HermiteBracket> project_exactly(const TokenPart& part,
                                                                      std::size_t degree,
                                                                      const Context& context);

/// Adds the coefficients of a part to those of the whole target.
void add_projection(const TokenPart& part, const numerics::HermiteProjection& projection,
                    HermiteCoefficients& into);

}  // namespace onset::ssi
