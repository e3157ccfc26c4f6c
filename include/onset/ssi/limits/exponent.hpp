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
  std::optional<int> sie;  ///< the first degree of the target; empty: none up to the cut-off
  std::optional<int> sie_positional;  ///< first non-vanishing derivative of the risk; only with P
  std::optional<int> sie_descending;  ///< first order at which the risk falls; empty: none
  std::optional<int> s_eff;           ///< the first degree that the student sees
  std::optional<int> sign;            ///< the sign of c_s(0) at s_eff
  Presence verdict = Presence::unresolved;  ///< the verdict on the exponent of the target
  bool resolved = false;                    ///< whether all of the above are certain
  std::string samples;                      ///< "d", "d log d", "d^3", "never" or "unknown"
  std::string meaning;                      ///< one sentence
};

[[nodiscard]] Exponents information_exponents(const SequenceModel& model,
                                              const SpectrumOptions& options,
                                              const Context& context);

/// Roughly the core-seconds that this takes, for estimates only.
[[nodiscard]] double exponents_seconds(const SequenceModel& model, const SpectrumOptions& options);

/// The first order at which the risk falls along some direction from the origin along which all
/// lower orders vanish; 0 if it falls along none up to the cut-off. `certain` tells whether the
/// errors leave no doubt. [ssi 16]
[[nodiscard]] std::size_t descending_order(const OriginExpansion& origin, bool& certain);

}  // namespace onset::ssi
