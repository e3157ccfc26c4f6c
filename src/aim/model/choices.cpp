#include "onset/aim/model/choices.hpp"

namespace onset::aim {

std::string_view to_string(NoiseKind kind) {
  return kind == NoiseKind::scaled ? "scaled" : "equal";
}

std::string_view to_string(PriorKind kind) {
  return kind == PriorKind::wishart ? "wishart" : "wigner";
}

std::string_view to_string(LayerLabels labels) {
  switch (labels) {
    case LayerLabels::deep: return "deep";
    case LayerLabels::separate: return "separate";
    case LayerLabels::sum: break;
  }
  return "sum";
}

std::string_view to_string(HardmaxOutput output) {
  return output == HardmaxOutput::exact ? "exact" : "density";
}

std::string_view to_string(ScoreVariances variances) {
  return variances == ScoreVariances::norms ? "norms" : "plain";
}

std::string_view to_string(AmpPrecision precision) {
  return precision == AmpPrecision::mixed ? "mixed" : "double";
}

std::string_view to_string(RateSchedule schedule) {
  return schedule == RateSchedule::constant ? "constant" : "cosine";
}

std::string_view to_string(Penalty penalty) {
  switch (penalty) {
    case Penalty::trace: return "trace";
    case Penalty::nuclear: return "nuclear";
    case Penalty::ridge: break;
  }
  return "ridge";
}

std::string_view to_string(TrainingLoss loss) {
  switch (loss) {
    case TrainingLoss::square: return "square";
    case TrainingLoss::fields: return "fields";
    case TrainingLoss::cross_entropy: break;
  }
  return "cross-entropy";
}

std::string_view to_string(DecayGoal goal) {
  return goal == DecayGoal::mse ? "mse" : "test";
}

}  // namespace onset::aim
