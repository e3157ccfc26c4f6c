#pragma once

#include "mha/model/examples.hpp"
#include "mha/model/layer.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// What a layer leaves of every label, repeats and examples that no phase saw included.
struct Agreement {
  double residual = 0.0;        ///< root mean square over the size of the labels
  std::size_t disagreeing = 0;  ///< examples that are off by more than the tolerance
  std::size_t first = 0;        ///< the first of them
};

/// An example disagrees when its label is off by more than `tolerance` times the typical size of
/// the layer's outputs: labels may have outliers, outputs have none.
[[nodiscard]] Agreement agreement_of(const Layer& layer, const Examples& examples, double tolerance,
                                     const Context& context);

}  // namespace onset::mha
