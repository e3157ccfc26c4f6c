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
/// dx/dt; time does not enter, since our flows are autonomous. It may be asked about states that
/// the path never comes to, when a step was tried that is too long: for those that mean nothing it
/// answers with NaN, and the step is shortened.
using OdeField = std::function<OdeState(const OdeState& x)>;

struct OdeSolution {
  std::vector<OdeState> states;      ///< the states at the given times, up to the last one reached
  std::optional<double> event_time;  ///< the first time at which event(x) >= 0
  Status status;                     ///< its iterations are the steps that were tried
};

/// Integrates dx/dt = f(x) from t = 0 through increasing times (Dormand and Prince 1980, orders 5
/// and 4, adaptive). `event` may be empty; its first crossing is bisected within a step.
///
/// Boost.Odeint has the same stepper, but no events: those would be looked for on its dense output,
/// which is of order four and less exact than the steps, while we bisect steps of full order. How a
/// path ended, the states that it reached and stops between steps would be ours in any case, so
/// that Odeint would replace the thirty lines of one step, and change the bits of every stored
/// flow.
[[nodiscard]] OdeSolution solve_ode(const OdeField& f, OdeState start,
                                    const std::vector<double>& times, const OdeOptions& options,
                                    const Context& context,
                                    const std::function<double(const OdeState&)>& event = {});

}  // namespace onset::numerics
