#pragma once

#include <cstdint>
#include <memory>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {

/// E_hat of hardmax labels [aim 5] as a function of lambda = q/V alone, which is universal for each
/// number of tokens, whatever the prior. Times sqrt(1 + lambda) it is smooth in atan(sqrt(lambda)),
/// and is kept as a Chebyshev series in that angle.
class HardmaxInformation {
 public:
  virtual ~HardmaxInformation() = default;
  [[nodiscard]] virtual Estimate operator()(double lambda) const = 0;
};

/// Makes the series. Two tokens are computed by quadrature to some 1e-14, once for each variant;
/// three to six come from a table that tools/generate_hardmax.cpp wrote; more are sampled here,
/// which takes a minute or so.
[[nodiscard]] std::shared_ptr<const HardmaxInformation> hardmax_information(
    int tokens, const PublishedHardmax& published, std::uint64_t seed, const Context& context);

/// The value for two tokens at one lambda > 0 [aim 22], by the trapezoid rule in asinh of both
/// arguments.
[[nodiscard]] double hardmax_pair_information(double lambda, const PublishedHardmax& published);

/// The value for any number of tokens at one lambda >= 0, by Gibbs sampling of the scores given
/// their labels, squared by means of two independent chains [aim 23]. There are sixteen replicates
/// of `samples`/16 samples.
[[nodiscard]] numerics::Replicates sampled_hardmax_information(int tokens, double lambda,
                                                               std::size_t samples,
                                                               std::uint64_t seed,
                                                               const Context& context);

/// The limit of sqrt(lambda) E_hat for lambda -> infinity, where only ties count [aim 24].
[[nodiscard]] double hardmax_tie_constant(int tokens);

/// The largest number of tokens with a table.
inline constexpr int max_table_tokens = 6;

}  // namespace onset::aim
