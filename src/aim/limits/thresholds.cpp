#include "aim/limits/thresholds.hpp"

#include <cmath>

#include "aim/limits/curve.hpp"
#include "aim/limits/spectrum.hpp"
#include "aim/limits/two_layer_curve.hpp"

namespace onset::aim {

BayesThresholds bayes_thresholds(const AttentionIndexed& model, std::uint64_t seed,
                                 const Context& context) {
  BayesThresholds found;
  if (model.is_deep()) {
    found.perfect = Estimate{two_layer_recovery(model), 0.0};
    return found;
  }
  const StateEvolution evolution(model, seed, context);
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
