#include "onset/mha/model/inputs.hpp"

namespace onset::mha {

std::string_view to_string(Inputs inputs) {
  switch (inputs) {
    case Inputs::boolean: return "boolean";
    case Inputs::gaussian: return "gaussian";
  }
  return "unknown";
}

}  // namespace onset::mha
