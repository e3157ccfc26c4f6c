#include "ssi/verbs.hpp"

#include "onset/ssi.hpp"

namespace onset::ssi {

std::vector<Verb> verbs() {
  return {Sie::verb(), Loss::verb(), Phase::verb(),  Flow::verb(),
          Sgd::verb(), Gain::verb(), Scaling::verb()};
}

}  // namespace onset::ssi
