#include "onset/ssi/limits/flow.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/parallel.hpp"
#include "numerics/solvers/ode.hpp"

namespace onset::ssi {
namespace {

/// The drift is odd, so that differences over this step and over twice as much give its slope at
/// the start up to rounding and up to the fourth power of the step.
constexpr double near_start = 1e-3;

/// The relative error of the solver over a whole path, and what it is allowed in a step: some
/// hundred steps add up, and where m settles near 1 their errors all have one sign.
constexpr double solver_error = 1e-8;
constexpr double step_tolerance = 1e-10;

/// The number of standard errors (or bounds) that a drift must exceed to have a sign, and the part
/// of sqrt(V), which has the same unit, that is rounding of differences near the start.
constexpr double sure = 6.0;
constexpr double rounding = 1e-12;

/// Adds the error of the solver, which no rule shows.
Estimate with_solver_error(const Estimate& overlap) {
  return {overlap.value, std::hypot(overlap.error, solver_error * std::abs(overlap.value))};
}

/// Which growth rate: along m or e, and the learning rate whose pull is to be removed again.
struct Growth {
  bool along_m = true;
  double without_pull_of = 0.0;
};

/// The slope of the drift over a finite step, by one rule.
double slope_over(const FlowField& field, const Growth& growth, double step, std::size_t rule) {
  const double e = growth.along_m ? 0.0 : step;
  const double m = growth.along_m ? step : 0.0;
  const Motion plus = field.at(e, m, rule);
  const Motion minus = field.at(-e, -m, rule);
  const double rise = growth.along_m ? plus.drift_m - minus.drift_m : plus.drift_e - minus.drift_e;
  return rise / (2.0 * step) + 0.25 * growth.without_pull_of * (plus.variance + minus.variance);
}

/// The growth rate along one overlap, extrapolated from two steps.
Estimate growth_along(const FlowField& field, const Growth& growth, double step = near_start) {
  std::vector<double> rates;
  for (const std::size_t rule : field.rules()) {
    const double near = slope_over(field, growth, step, rule);
    rates.push_back((4.0 * near - slope_over(field, growth, 2.0 * step, rule)) / 3.0);
  }
  return field.reduce(std::move(rates));
}

}  // namespace

GrowthRates growth_rates(const FlowField& field) {
  GrowthRates rates;
  rates.m = growth_along(field, {.along_m = true});
  rates.lambda_m = growth_along(field, {.along_m = true, .without_pull_of = field.rate()});
  if (field.positional()) rates.e = growth_along(field, {.along_m = false});
  return rates;
}

RateLimit max_rate(const FlowField& field) {
  const Estimate push = field.drift_at_start();
  const Estimate v = field.variance_at_start();
  const double rounded = rounding * std::sqrt(v.value);
  if (std::abs(push.value) > rounded) {
    const bool certain = std::abs(push.value) > sure * push.error;
    return {.growth = certain ? SmallGrowth::at_every_rate : SmallGrowth::open};
  }
  const Growth growth{.along_m = true, .without_pull_of = field.rate()};
  const Estimate lambda = growth_along(field, growth);
  // What higher degrees leave in the extrapolation is no growth: at twice the step it is 16 times
  // as large.
  const double left = std::abs(growth_along(field, growth, 2.0 * near_start).value - lambda.value);
  if (std::abs(lambda.value) <= rounded + left) {
    return {.growth = SmallGrowth::not_linear, .rate = Estimate{}};
  }
  if (lambda.value < -sure * lambda.error) {
    return {.growth = SmallGrowth::against_slope, .rate = Estimate{}};
  }
  if (lambda.value <= sure * lambda.error || !(v.value > 0.0)) return {};
  const double rate = 2.0 * lambda.value / v.value;
  const double error = rate * (lambda.error / lambda.value + v.error / v.value);
  return {.growth = SmallGrowth::up_to_a_rate, .rate = Estimate{rate, error}};
}

FlowPath integrate_flow(const FlowField& field, const FlowOptions& options,
                        const Context& context) {
  const std::vector<std::size_t> rules = field.rules();
  const std::size_t count = rules.size();
  std::vector<numerics::OdeSolution> solutions(count);
  numerics::parallel_for(context, count, [&](std::size_t r) {
    const auto slope = [&](const numerics::OdeState& x) {
      // The disk is invariant; rounding may leave it.
      const double radius = std::hypot(x[0], x[1]);
      const double shrink = radius > 1.0 ? 1.0 / radius : 1.0;
      const Motion motion = field.at(x[0] * shrink, x[1] * shrink, rules[r]);
      return numerics::OdeState{motion.drift_e, motion.drift_m};
    };
    const auto escaped = [&](const numerics::OdeState& x) {
      return std::max(std::abs(x[0]), std::abs(x[1])) - options.level;
    };
    solutions[r] = numerics::solve_ode(slope, {options.start_e, options.start_m}, options.times,
                                       {step_tolerance, 1e-13, 200'000}, context, escaped);
  });
  FlowPath path;
  path.status = solutions[0].status;
  std::size_t reached = options.times.size();
  for (const auto& solution : solutions) {
    reached = std::min(reached, solution.states.size());
    if (!solution.status.converged()) path.status = solution.status;
  }
  std::vector<double> e(count);
  std::vector<double> m(count);
  for (std::size_t i = 0; i < reached; ++i) {
    if (options.times[i] == 0.0) {
      path.rows.push_back({0.0, Estimate{options.start_e}, Estimate{options.start_m}});
      continue;
    }
    for (std::size_t r = 0; r < count; ++r) {
      // The disk is invariant; a path of the coarser rule may have left it.
      const double radius = std::hypot(solutions[r].states[i][0], solutions[r].states[i][1]);
      e[r] = solutions[r].states[i][0] / std::max(1.0, radius);
      m[r] = solutions[r].states[i][1] / std::max(1.0, radius);
    }
    path.rows.push_back(
        {options.times[i], with_solver_error(field.reduce(e)), with_solver_error(field.reduce(m))});
  }
  std::vector<double> escapes;
  for (const auto& solution : solutions) {
    if (solution.event_time) escapes.push_back(*solution.event_time);
  }
  path.integrations = count;
  path.escaped = escapes.size();
  if (escapes.size() == count) path.escape = field.reduce(std::move(escapes));
  return path;
}

}  // namespace onset::ssi
