#include "aim/limits/thresholds.hpp"

#include <cmath>

#include "aim/limits/curve.hpp"
#include "aim/limits/spectrum.hpp"

namespace onset::aim {

BayesThresholds bayes_thresholds(const AttentionIndexed& model, std::uint64_t seed,
                                 const Context& context) {
  const StateEvolution evolution(model, seed, context);
  BayesThresholds found;
  const double perfect = evolution.perfect_recovery();
  const bool only_sum = model.layers > 1 && model.labels == LayerLabels::sum;
  if (std::isfinite(perfect)) (only_sum ? found.sum : found.perfect) = Estimate{perfect, 0.0};
  if (model.prior == PriorKind::wigner) return found;
  if (model.rho == 0.0) {
    found.weak = evolution.sample_ratio(1.0);
  } else if (model.rho < 1.0) {
    found.two_bands = evolution.sample_ratio(two_band_delta(model.rho));
  }
  return found;
}

}  // namespace onset::aim
