#include "onset/version.hpp"

namespace onset {

std::string_view version() {
  return ONSET_VERSION;
}

}  // namespace onset
