#include "mha/verbs.hpp"

#include "onset/mha.hpp"

namespace onset::mha {

std::vector<Verb> verbs() {
  return {Generate::verb(), Learn::verb(), Verify::verb(),  Evaluate::verb(),
          Baseline::verb(), Trial::verb(), Inspect::verb(), Compare::verb()};
}

}  // namespace onset::mha
