#include "aim/verbs.hpp"

#include "aim/verbs/aim_verbs.hpp"

namespace onset::aim {

std::vector<Verb> verbs() {
  return {thresholds_verb(), curve_verb(), spectrum_verb(), erm_verb(),
          amp_verb(),        gd_verb(),    generate_verb()};
}

}  // namespace onset::aim
