#pragma once

#include <string>
#include <vector>

#include "mha/model/certificate.hpp"
#include "onset/core/context.hpp"

namespace onset::mha {

/// One claim, checked.
struct Check {
  std::string name;
  double value = 0.0;
  double bound = 0.0;  ///< what the value is held against
  bool passed = false;
};

/// The claims checked, and the verdict that follows from what was found.
struct Verification {
  std::vector<Check> checks;
  Verdict verdict = Verdict::refused;  ///< the verdict that the examples allow, whatever is claimed
};

/// A model as its files give it.
struct Model {
  Layer layer;
  Layer geometry;  ///< before the polish
};

/// Checks a certificate against the examples with nothing but the forward map: that examples and
/// layers are the ones meant, that the held-out examples are the last ones and none was seen
/// before, residuals, every single label, rank of the Jacobian by finite differences, that no slab
/// was left out [mha 33], slabs and their singular gaps from its own least squares, the proof of
/// the rejected tuple. The verdict follows from what was found, and the last check is that it is
/// the one claimed. Examples of another shape fail the first check, and no other check is made.
/// Throws InvalidArgument naming the field for a certificate that does not fit the layer or its own
/// examples.
[[nodiscard]] Verification verify(const Certificate& certificate, const Model& model,
                                  const Examples& examples, const Context& context);

}  // namespace onset::mha
