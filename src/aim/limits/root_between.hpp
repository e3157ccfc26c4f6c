#pragma once

#include <functional>
#include <string>

#include "numerics/roots.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {

/// numerics::bracketed_root() for brackets that the equations promise. One that fails is rounding
/// at some extreme of rho and delta, no fault of the caller: Refused, naming what was looked for.
[[nodiscard]] inline numerics::Root root_between(const std::function<double(double)>& f, double low,
                                                 double high, double tolerance,
                                                 const std::string& what) {
  numerics::RootOptions options;
  options.tolerance = tolerance;
  try {
    return numerics::bracketed_root(f, low, high, options);
  } catch (const InvalidArgument&) {
    throw Refused(what + " cannot be told apart from rounding with these parameters");
  }
}

}  // namespace onset::aim
