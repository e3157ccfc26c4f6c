#pragma once

#include "onset/ssi/limits/origin.hpp"

/// The three ways of expand_at_origin().
namespace onset::ssi {

/// Uses products of Hermite coefficients, for students of at most three tokens.
[[nodiscard]] OriginExpansion quadrature_origin(const SequenceModel& model,
                                                const Spectrum& spectrum, const Context& context);
/// Serves students sigma(u), for which everything happens along one direction. [ssi 13]
[[nodiscard]] OriginExpansion activation_origin(const SequenceModel& model,
                                                const Spectrum& spectrum, std::uint64_t seed,
                                                const Context& context);
/// Uses quasi-Monte Carlo, for attention and expressions of many tokens. [ssi 14]
[[nodiscard]] OriginExpansion sampled_origin(const SequenceModel& model, const Spectrum& spectrum,
                                             std::uint64_t seed, const Context& context);

/// An expansion of zeros.
[[nodiscard]] OriginExpansion blank_origin(std::size_t degree, bool positional);

}  // namespace onset::ssi
