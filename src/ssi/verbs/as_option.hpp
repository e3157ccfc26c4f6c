#pragma once

#include <string>

#include "onset/core/error.hpp"

namespace onset::ssi {

/// Calls `body`; a mistake in a field of the model or of options becomes one of the option of the
/// same name.
template <class Body>
auto as_option(const Body& body) {
  try {
    return body();
  } catch (const InvalidArgument& e) {
    throw InvalidArgument("--" + e.field(), std::string(e.what()).substr(e.field().size() + 2));
  }
}

}  // namespace onset::ssi
