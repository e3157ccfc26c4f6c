#include "numerics/solvers/ode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

constexpr int stages = 7;
// The tableau of Dormand and Prince; the last row is also the fifth-order solution.
constexpr double tableau[stages][stages - 1] = {
    {0, 0, 0, 0, 0, 0},
    {1.0 / 5, 0, 0, 0, 0, 0},
    {3.0 / 40, 9.0 / 40, 0, 0, 0, 0},
    {44.0 / 45, -56.0 / 15, 32.0 / 9, 0, 0, 0},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729, 0, 0},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656, 0},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
constexpr double fourth_order[stages] = {
    5179.0 / 57600, 0, 7571.0 / 16695, 393.0 / 640, -92097.0 / 339200, 187.0 / 2100, 1.0 / 40};

/// The shortest step, in units of the time that is to be reached.
constexpr double shortest_step = 1e-14;

struct Step {
  OdeState next;
  OdeState last_slope;  ///< f at the end: the first slope of the next step
  double error = 0.0;   ///< in units of the tolerance; infinite where f ceased to be finite
};

bool finite(const OdeState& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

Step take_step(const OdeField& f, const OdeState& x, const OdeState& slope, double h,
               const OdeOptions& options) {
  const std::size_t n = x.size();
  std::vector<OdeState> k{slope};
  OdeState point(n);
  for (int stage = 1; stage < stages; ++stage) {
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int j = 0; j < stage; ++j) sum += tableau[stage][j] * k[static_cast<std::size_t>(j)][i];
      point[i] = x[i] + h * sum;
    }
    k.push_back(f(point));
    if (!finite(k.back())) return {{}, {}, std::numeric_limits<double>::infinity()};
  }
  Step step{point, k.back(), 0.0};
  for (std::size_t i = 0; i < n; ++i) {
    double fourth = 0.0;
    for (std::size_t j = 0; j < stages; ++j) fourth += fourth_order[j] * k[j][i];
    const double scale = options.absolute_tolerance +
                         options.relative_tolerance * std::max(std::abs(x[i]), std::abs(point[i]));
    step.error = std::max(step.error, std::abs(point[i] - (x[i] + h * fourth)) / scale);
  }
  return step;
}

/// The time within a step at which the event happens.
double bisect_event(const OdeField& f, const OdeState& x, const OdeState& slope, double h,
                    const OdeOptions& options,
                    const std::function<double(const OdeState&)>& event) {
  double low = 0.0;
  double high = h;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (event(take_step(f, x, slope, middle, options).next) >= 0.0 ? high : low) = middle;
  }
  return high;
}

}  // namespace

void OdeOptions::validate() const {
  if (!(relative_tolerance > 0.0)) {
    throw InvalidArgument("relative_tolerance", "allowed: a positive number");
  }
  if (!(absolute_tolerance > 0.0)) {
    throw InvalidArgument("absolute_tolerance", "allowed: a positive number");
  }
  if (max_steps < 1) throw InvalidArgument("max_steps", "allowed: 1 or more");
}

OdeSolution solve_ode(const OdeField& f, OdeState x, const std::vector<double>& times,
                      const OdeOptions& options, const Context& context,
                      const std::function<double(const OdeState&)>& event) {
  options.validate();
  OdeSolution solution;
  OdeState slope = f(x);
  double t = 0.0;
  double h = times.empty() ? 0.0 : std::max(1e-6, 1e-4 * times.back());
  if (event && event(x) >= 0.0) solution.event_time = 0.0;
  solution.status.reason = StopReason::converged;
  for (const double target : times) {
    while (t < target) {
      if (solution.status.iterations % 64 == 0) context.check();
      if (solution.status.iterations >= options.max_steps) {
        solution.status.reason = StopReason::unfinished;
        return solution;
      }
      const bool last = t + h >= target;
      const double length = last ? target - t : h;
      const Step step = take_step(f, x, slope, length, options);
      ++solution.status.iterations;
      if (!std::isfinite(step.error)) {
        // A step into nonsense is shortened; where no step is short enough the path ends.
        if (!(length > shortest_step * target)) {
          solution.status.reason = StopReason::diverged;
          return solution;
        }
        h = 0.2 * length;
        continue;
      }
      const double grow = step.error > 0.0 ? 0.9 * std::pow(step.error, -0.2) : 5.0;
      if (step.error <= 1.0) {
        if (event && !solution.event_time && event(step.next) >= 0.0) {
          solution.event_time = t + bisect_event(f, x, slope, length, options, event);
        }
        t = last ? target : t + length;
        x = step.next;
        slope = step.last_slope;
      }
      // A step cut short by an output time says little about the next one.
      if (!last || step.error > 1.0) h = length * std::clamp(grow, 0.2, 5.0);
    }
    solution.states.push_back(x);
  }
  return solution;
}

}  // namespace onset::numerics
