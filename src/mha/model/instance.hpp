#pragma once

#include <cstdint>

#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"
#include "onset/mha/model/degeneracy.hpp"

namespace onset::mha {

/// Whether projections are pulled towards something, and a degree says how far.
[[nodiscard]] constexpr bool is_pulled(Degeneracy degeneracy) {
  return degeneracy == Degeneracy::cancelling || degeneracy == Degeneracy::proportional;
}

/// The law of random instances [mha 2].
struct InstanceLaw {
  int heads = 2;
  int dim = 8;
  int tokens = 2;
  double scale = 3.0;      ///< Frobenius norm of a typical theta
  double coherence = 0.0;  ///< theta_i = G + coherence G_i; 0 gives independent theta_i
  Degeneracy degeneracy = Degeneracy::none;
  double degree = 1.0;  ///< how far the pull goes; 1 is all the way
  double noise = 0.0;   ///< standard deviation of label noise per coordinate
  Inputs inputs = Inputs::boolean;

  /// Throws InvalidArgument naming the field.
  void validate() const;
};

[[nodiscard]] Layer draw_layer(const InstanceLaw& law, std::uint64_t seed);

/// Random inputs and their (noisy) labels. `purpose` separates training from fresh examples.
[[nodiscard]] Examples draw_examples(const InstanceLaw& law, const Layer& layer, std::size_t count,
                                     std::uint64_t seed, const char* purpose,
                                     const Context& context);

}  // namespace onset::mha
