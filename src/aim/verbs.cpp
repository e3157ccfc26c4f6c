#include "aim/verbs.hpp"

#include "onset/aim.hpp"

namespace onset::aim {

std::vector<Verb> verbs() {
  return {Thresholds::verb(), Curve::verb(), Potential::verb(), Spectrum::verb(), Erm::verb(),
          Amp::verb(),        Gd::verb(),    Flow::verb(),      Sgd::verb(),      Generate::verb()};
}

}  // namespace onset::aim
