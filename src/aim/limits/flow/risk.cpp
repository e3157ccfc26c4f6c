#include "aim/limits/flow/risk.hpp"

#include "aim/limits/flow/risk/risks.hpp"

namespace onset::aim {

double max_steepness(SgdLoss loss, int tokens) {
  // Squared losses of more than two tokens are double integrals.
  constexpr double of_double_integrals = 4.0;
  constexpr double of_others = 30.0;
  return loss == SgdLoss::squared && tokens > 2 ? of_double_integrals : of_others;
}

std::unique_ptr<const Risk> make_risk(const FlowModel& model, Precision precision,
                                      std::uint64_t seed) {
  const AttentionIndexed& labels = model.labels;
  if (labels.channel == &linear_channel()) return linear_risk(model);
  const bool pair = labels.tokens == 2;
  if (model.loss == SgdLoss::squared) {
    return pair ? pair_squared_risk(model, precision) : many_squared_risk(model, precision, seed);
  }
  if (!pair) return many_cross_entropy_risk(model, precision, seed);
  return labels.channel == &hardmax_channel() ? pair_hardmax_risk(model, precision)
                                              : pair_cross_entropy_risk(model, precision);
}

}  // namespace onset::aim
