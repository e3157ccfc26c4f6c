#include "mha/verbs.hpp"

#include "mha/verbs/mha_verbs.hpp"

namespace onset::mha {

std::vector<Verb> verbs() {
  return {generate_verb(), learn_verb(),    verify_verb(),
          evaluate_verb(), baseline_verb(), trial_verb()};
}

}  // namespace onset::mha
