#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onset/ssi/limits/origin.hpp"
#include "onset/ssi/limits/spectrum.hpp"

namespace onset::ssi {

/// The information exponents of a model and what they mean for SGD. [ssi 8, 11-16]
struct Exponents {
  Spectrum spectrum;
  OriginExpansion origin;
  std::optional<int> sie;  ///< first degree of the target; nothing: none up to the cut-off
  std::optional<int> sie_positional;  ///< first non-vanishing derivative of the risk; only with P
  std::optional<int> sie_descending;  ///< first order at which the risk falls; nothing: it does not
  std::optional<int> s_eff;           ///< first degree that the student sees
  std::optional<int> sign;            ///< of c_s(0) at s_eff
  Presence verdict = Presence::unresolved;  ///< on the exponent of the target
  bool resolved = false;                    ///< whether all of the above are certain
  std::string samples;                      ///< "d", "d log d", "d^3", "never" or "unknown"
  std::string meaning;                      ///< one sentence
};

[[nodiscard]] Exponents information_exponents(const SequenceModel& model,
                                              const SpectrumOptions& options,
                                              const Context& context);

/// The first order at which the risk falls along some direction from the origin, where lower orders
/// vanish along that direction; 0: it falls along none, or not up to the cut-off. `certain` tells
/// whether errors leave no doubt. [ssi 16]
[[nodiscard]] std::size_t descending_order(const OriginExpansion& origin, bool& certain);

}  // namespace onset::ssi
