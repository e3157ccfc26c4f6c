#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "onset/core/context.hpp"
#include "onset/core/status.hpp"

namespace onset::numerics {

struct OdeOptions {
  double relative_tolerance = 1e-9;
  double absolute_tolerance = 1e-13;
  int max_steps = 200'000;
  void validate() const;
};

using OdeState = std::vector<double>;
/// dx/dt; time does not enter, since our flows are autonomous.
using OdeField = std::function<OdeState(const OdeState& x)>;

struct OdeSolution {
  std::vector<OdeState> states;      ///< the states at the given times, up to the last one reached
  std::optional<double> event_time;  ///< the first time at which event(x) >= 0
  Status status;                     ///< its iterations are the accepted steps
};

/// Integrates dx/dt = f(x) from t = 0 through increasing times (Dormand and Prince 1980, orders 5
/// and 4, adaptive). `event` may be empty; its first crossing is bisected within a step.
[[nodiscard]] OdeSolution solve_ode(const OdeField& f, OdeState start,
                                    const std::vector<double>& times, const OdeOptions& options,
                                    const Context& context,
                                    const std::function<double(const OdeState&)>& event = {});

}  // namespace onset::numerics
