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

}  // namespace onset::aim
