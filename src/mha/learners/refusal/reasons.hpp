#pragma once

#include <string>

#include "mha/model/examples.hpp"

/// Reasons of refusals that more than one method gives.
namespace onset::mha {

/// The least number of examples; fewer are refused.
inline constexpr std::size_t min_examples = 64;
inline constexpr const char* one_token_reason =
    "one token: the labels show the sum of the projections and nothing of theta";
[[nodiscard]] std::string too_few_reason(const Examples& examples, std::size_t distinct,
                                         std::size_t wanted);
/// What to add where more examples are `wanted` than there are inputs; empty otherwise.
[[nodiscard]] std::string limit_of_inputs(const Examples& examples, std::size_t wanted);
/// The reason where m(k-1) > d: the agreement of so many heads cannot be seen [mha 8].
[[nodiscard]] std::string counting_reason(int heads, int tokens, int dim);

}  // namespace onset::mha
