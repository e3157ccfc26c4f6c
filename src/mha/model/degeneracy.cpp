#include "onset/mha/model/degeneracy.hpp"

namespace onset::mha {

std::string_view to_string(Degeneracy degeneracy) {
  switch (degeneracy) {
    case Degeneracy::none: return "none";
    case Degeneracy::cancelling: return "cancelling";
    case Degeneracy::proportional: return "proportional";
    case Degeneracy::parity: return "parity";
  }
  return "unknown";
}

}  // namespace onset::mha
