#include "smi/verbs.hpp"

#include "smi/verbs/smi_verbs.hpp"

namespace onset::smi {

std::vector<Verb> verbs() {
  return {thresholds_verb(), curve_verb(), potential_verb(), generate_verb(),
          amp_verb(),        sgd_verb(),   text_verb()};
}

}  // namespace onset::smi
