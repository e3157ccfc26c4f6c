#include "ssi/verbs.hpp"

#include "ssi/verbs/ssi_verbs.hpp"

namespace onset::ssi {

std::vector<Verb> verbs() {
  return {sie_verb(), loss_verb(), phase_verb(), flow_verb(), sgd_verb(), gain_verb()};
}

}  // namespace onset::ssi
