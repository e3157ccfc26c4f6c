#include "smi/verbs.hpp"

#include "onset/smi.hpp"

namespace onset::smi {

std::vector<Verb> verbs() {
  return {Thresholds::verb(), Curve::verb(),   Evolution::verb(), Potential::verb(),
          Generate::verb(),   Amp::verb(),     Sgd::verb(),       Text::verb(),
          Exponent::verb(),   Spectral::verb()};
}

}  // namespace onset::smi
