#include "mha/learners/refusal/reasons.hpp"

#include <fmt/format.h>

namespace onset::mha {

std::string limit_of_inputs(const Examples& examples, std::size_t wanted) {
  if (examples.real()) return "";  // there is no end of them
  const double exist = distinct_inputs(examples.tokens, examples.dim);
  if (exist >= static_cast<double>(wanted)) return "";
  return fmt::format(
      "; {} tokens of dimension {} have no more than {} such inputs, so a larger dimension is "
      "needed, not more examples",
      examples.tokens, examples.dim, exist);
}

std::string too_few_reason(const Examples& examples, std::size_t distinct, std::size_t wanted) {
  return fmt::format(
      "too few examples: {} distinct ones up to sign and order of tokens, {} wanted{}", distinct,
      wanted, limit_of_inputs(examples, wanted));
}

std::string counting_reason(int heads, int tokens, int dim) {
  return fmt::format(
      "m(k-1) > d: {} heads with {} tokens need a dimension of {}, the examples have {}; agreement "
      "of the heads cannot be seen in their residuals",
      heads, tokens, heads * (tokens - 1), dim);
}

}  // namespace onset::mha
