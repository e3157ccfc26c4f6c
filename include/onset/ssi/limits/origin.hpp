#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/ssi/limits/spectrum.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {

/// The population risk of loss |y - f|^2 / 2 around e = m = 0. [ssi 11-14]
struct OriginExpansion {
  std::size_t degree = 0;
  /// taylor[j][s]: coefficient of e^j m^s, j + s <= degree; only j = 0 without a positional
  /// encoding. The constant term is left at 0.
  std::vector<std::vector<Estimate>> taylor;
  /// c_s(0), the part of the target that the student sees, degree by degree, and its verdict.
  /// An untied student sees each direction by itself: c_s is then the largest value of the form.
  std::vector<Estimate> visible;
  std::vector<Presence> presence;

  [[nodiscard]] Estimate curvature_e() const;  ///< R_ee(0, 0)
  [[nodiscard]] Estimate curvature_m() const;  ///< R_mm(0, 0)
};

/// Expands the risk; `spectrum` is that of the model's target. The expansion is exact to quadrature
/// up to three tokens, and for tied and untied students of any number; beyond, it uses quasi-Monte
/// Carlo, and has only degrees 1 and 2 if the target has no coefficients. Errors are the difference
/// of two rules, or the scatter of replicates.
[[nodiscard]] OriginExpansion expand_at_origin(const SequenceModel& model, const Spectrum& spectrum,
                                               std::uint64_t seed, const Context& context);

}  // namespace onset::ssi
