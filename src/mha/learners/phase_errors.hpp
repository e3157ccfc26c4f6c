#pragma once

#include <optional>

#include "mha/learners/six_phases.hpp"
#include "mha/model/instance.hpp"

namespace onset::mha {

/// What a phase found, compared with a truth that it did not see: relative errors in Frobenius norm
/// of what the phase adds.
struct PhaseErrors {
  std::optional<double> projection{};  ///< of their sum; empty where the true ones cancel
  std::optional<double> hull{};   ///< largest distance of a true head from the hull; none where
                                  ///< a true theta is 0
  std::optional<double> theta{};  ///< as in ParameterErrors
  std::optional<double> w{};
};

[[nodiscard]] PhaseErrors errors_after(const PhaseReport& phase, const Learned& learned,
                                       const Layer& truth);

/// The scaling of the hull's error with the number of examples [mha 12], with constant 1; nothing
/// for one head or one token, where the hull is exact or cannot be found.
[[nodiscard]] std::optional<double> predicted_hull_error(const InstanceLaw& law, double samples);

}  // namespace onset::mha
