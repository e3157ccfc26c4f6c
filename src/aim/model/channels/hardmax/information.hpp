#pragma once

#include <cstdint>
#include <memory>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {

/// E_hat of hardmax labels [aim 5] as a function of lambda = q/V alone: universal for each number
/// of tokens, whatever the prior. Times sqrt(1 + lambda) it is smooth in atan(sqrt(lambda)), and is
/// kept as a Chebyshev series in that angle.
class HardmaxInformation {
 public:
  virtual ~HardmaxInformation() = default;
  [[nodiscard]] virtual Estimate operator()(double lambda) const = 0;
};

/// Two tokens: by quadrature, to some 1e-14; made once for each variant. Three to six: from a table
/// that tools/generate_hardmax.cpp wrote. More: sampled here, which takes a minute or so.
[[nodiscard]] std::shared_ptr<const HardmaxInformation> hardmax_information(
    int tokens, const PublishedHardmax& published, std::uint64_t seed, const Context& context);

/// Two tokens, one lambda > 0 [aim 22]: trapezoid rule in asinh of both arguments.
[[nodiscard]] double hardmax_pair_information(double lambda, const PublishedHardmax& published);

/// Any number of tokens, one lambda >= 0: Gibbs sampling of the scores given their labels, squared
/// by means of two independent chains [aim 23]. Sixteen replicates of `samples`/16 samples.
[[nodiscard]] numerics::Replicates sampled_hardmax_information(int tokens, double lambda,
                                                               std::size_t samples,
                                                               std::uint64_t seed,
                                                               const Context& context);

/// The limit of sqrt(lambda) E_hat for lambda -> infinity, where only ties count [aim 24].
[[nodiscard]] double hardmax_tie_constant(int tokens);

/// Largest number of tokens with a table.
inline constexpr int max_table_tokens = 6;

}  // namespace onset::aim
