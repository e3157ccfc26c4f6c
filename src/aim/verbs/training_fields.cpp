#include "aim/verbs/training_fields.hpp"

#include "aim/model/channel.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {

DecayChoice decay_choice(const std::string& text) {
  if (text == "optimal") return {.optimal = true, .values = {}};
  Parameter grid;
  grid.name = "decay";
  grid.kind = ParameterKind::grid;
  grid.min = 0.0;
  grid.max = max_training_decay;
  try {
    return {.optimal = false, .values = std::get<std::vector<double>>(parse_value(grid, text))};
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(e.field(),
                          std::string(e.what()).substr(e.field().size() + 2) + ", or optimal");
  }
}

void settle_loss(const AttentionIndexed& model, std::optional<TrainingLoss>& loss) {
  if (loss) return;
  loss = model.channel->fixes_length() ? TrainingLoss::square : TrainingLoss::cross_entropy;
}

Training checked_training(const AttentionIndexed& model, TrainingLoss loss, Penalty penalty,
                          std::uint64_t seed) {
  try {
    return {model, loss, penalty, seed};
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
}

double training_seconds(const Training& training, const AttentionIndexed& model) {
  constexpr double quadratic = 1e-3;
  constexpr double grid = 0.6;
  constexpr double sampled = 0.03;  // per pair of scores; half where one start is enough
  if (training.quadratic()) return quadratic;
  if (!training.sampled()) return grid;
  const double scores = model.scores();
  return sampled * scores * scores * (training.convex() ? 0.5 : 1.0);
}

}  // namespace onset::aim
