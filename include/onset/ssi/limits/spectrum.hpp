#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/ssi/model/link.hpp"

namespace onset::ssi {

/// Whether a quantity is there, as far as its errors tell.
enum class Presence { present, absent, unresolved };
[[nodiscard]] std::string_view to_string(Presence presence);

/// The Hermite coefficients of a function of L fields that are stored; a multi-index has one order
/// per token.
struct HermiteCoefficients {
  std::size_t tokens = 0;
  std::size_t outputs = 0;
  std::map<std::vector<std::size_t>, std::vector<double>> values;

  /// E[g h_s(<direction, z>)] of one output, for a unit direction. [ssi 9]
  [[nodiscard]] double along(const std::vector<double>& direction, std::size_t s,
                             std::size_t output = 0) const;
};

struct SpectrumOptions {
  std::size_t degree = 0;         ///< the cut-off; 0 means 8 up to three tokens, 6 beyond
  std::size_t samples = 400'000;  ///< samples of the directional test
  std::uint64_t seed = 1;

  /// Throws InvalidArgument naming `degree` where curvatures lie beyond the cut-off.
  void validate() const;
};

/// The weights W_s = sum_{|k| = s} |g_k|^2 of a target, degree by degree. [ssi 8]
struct Spectrum {
  struct Degree {
    Estimate weight;
    Presence presence = Presence::unresolved;
  };
  std::vector<Degree> degrees;  ///< degrees[s], s = 0, .., cut-off; 0 has no verdict
  double square = 0.0;          ///< E |g|^2
  bool exact = true;            ///< whether it is by quadrature; otherwise by the directional test
  HermiteCoefficients coefficients;  ///< empty after a directional test
  HermiteCoefficients coarse;        ///< by the second finest rule; the difference gives the error
  std::vector<std::string> remarks;

  /// The first degree that is present while all before it are absent; 0 when there is none.
  [[nodiscard]] std::size_t exponent() const;
  /// present: there is an exponent; absent: no degree up to the cut-off; else unresolved.
  [[nodiscard]] Presence verdict() const;
};

/// Computes the spectrum by quadrature where the target is a sum of functions of at most three
/// tokens each (or of few enough points). Otherwise it uses Monte Carlo in random directions, which
/// detects what lies above its noise and calls absent only what would have shown at a hundredth of
/// E|g|^2. Throws Refused when E|g|^2 is not finite.
[[nodiscard]] Spectrum target_spectrum(const Link& target, const SpectrumOptions& options,
                                       const Context& context);

}  // namespace onset::ssi
