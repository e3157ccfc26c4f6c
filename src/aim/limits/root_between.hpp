#pragma once

#include <functional>
#include <string>

#include "numerics/solvers/roots.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {

/// numerics::bracketed_root() for brackets that the equations guarantee. If one fails, rounding at
/// some extreme of rho and delta is to blame and not the caller: it throws Refused, naming what was
/// looked for.
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
