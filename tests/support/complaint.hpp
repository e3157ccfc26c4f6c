#pragma once

#include <string>

#include "onset/core/error.hpp"

namespace onset::testing {

/// The message with which a call refuses its arguments or a file; "none" when it does not.
template <class Call>
std::string complaint(Call&& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  } catch (const IoError& error) {
    return error.what();
  }
  return "none";
}

/// The field that a call says is wrong; "none" when it does not.
template <class Call>
std::string wrong_field(Call&& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.field();
  }
  return "none";
}

/// The field that validate() says is wrong after `change` was made to the defaults.
template <class Options, class Change>
std::string wrong_option(Change&& change) {
  Options options;
  change(options);
  return wrong_field([&] { options.validate(); });
}

}  // namespace onset::testing
