#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/ssi/limits/landscape.hpp"

namespace onset::ssi {

/// The functions of the overlaps that do not depend on a and omega, for L tokens that carry +P, -P,
/// +P, ..: the risk of the positional-semantic model is a combination of them. [ssi 24, 45]
class Universal {
 public:
  virtual ~Universal() = default;
  [[nodiscard]] virtual std::size_t tokens() const = 0;
  /// J(e, m) = E<softmax(z*), softmax(z)>.
  [[nodiscard]] virtual Jet cross(double e, double m) const = 0;
  /// F(e) = E|softmax(z)|^2.
  [[nodiscard]] virtual Jet square(double e) const = 0;
  /// What tokens with +P, or with -P, attend to tokens of their own sign, summed over them. For
  /// even L the two are the same.
  [[nodiscard]] virtual Jet own_attention(bool plus, double e) const = 0;
};

/// The functions of two tokens, from Hermite series; [ssi 23] has the last one in closed form.
[[nodiscard]] std::shared_ptr<const Universal> two_token_universal(bool fine,
                                                                   const Context& context);

/// The same for any number of tokens from scrambled Sobol points: one for each replicate, and last
/// that of their mean. Even polynomials in e and m go through nodes of the quarter disk; `misfit`
/// is the most by which they miss the nodes.
struct SampledUniversal {
  std::vector<std::shared_ptr<const Universal>> replicates;
  std::shared_ptr<const Universal> mean;
  double misfit = 0.0;
};
[[nodiscard]] SampledUniversal sampled_universal(std::size_t tokens, std::uint64_t seed,
                                                 const Context& context);
/// Roughly the core-seconds that it takes, for estimates only.
[[nodiscard]] double sampled_universal_seconds(std::size_t tokens);

}  // namespace onset::ssi
