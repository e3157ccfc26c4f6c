#include "ssi/learners/gain.hpp"

#include <algorithm>
#include <cmath>

#include "core/prose.hpp"
#include "onset/core/error.hpp"
#include "onset/ssi/limits/flow.hpp"
#include "ssi/learners/ensemble.hpp"

namespace onset::ssi {
namespace {

/// Half of the rate at which the growth rate of m vanishes, the same for both students. [ssi 36]
double best_rate(const SequenceModel& tied, std::uint64_t seed, const Context& context) {
  const RateLimit limit = max_rate(FlowField(tied, 1.0, seed, context));
  switch (limit.growth) {
    case SmallGrowth::up_to_a_rate: return 0.5 * limit.rate->value;
    case SmallGrowth::at_every_rate:
      throw Refused(prose(R"(
          the student sees a part of degree 1 of this target, so that small overlaps grow at every
          rate and no limit has a half; possible: another `policy`)"));
    case SmallGrowth::against_slope:
      throw Refused("the tied student never learns this target from small overlaps, at any rate");
    case SmallGrowth::not_linear:
      throw Refused(prose(R"(
          the tied student sees no part of degree 1 or 2 of this target, so that overlaps below some
          size grow at no rate; possible: another `policy`, with a `rate` that suits the start)"));
    case SmallGrowth::open: break;
  }
  throw Refused("whether the tied student learns this target is not resolved");
}

/// The number of steps that the flow of the tied student takes from m = 1/sqrt(d) to the level;
/// nothing if it never gets there.
std::optional<Estimate> flow_steps(const SequenceModel& tied, const SgdOptions& sgd, double rate,
                                   const Context& context) {
  const FlowField field(tied, rate, sgd.seed, context);
  FlowOptions options;
  options.start_m = 1.0 / std::sqrt(sgd.dim);
  options.level = sgd.level;
  const double linear = growth_rates(field).m.value;
  // Where only the size of the start makes m grow, it does so at this rate at first.
  const double growth =
      linear > 0.0 ? linear : field.at(0.0, options.start_m).drift_m / options.start_m;
  // Without saturation the level is reached after log(level/m_0)/growth, or after the level over a
  // drift that does not vanish at the start.
  double scale = std::log(std::max(2.0, sgd.level / options.start_m)) / growth;
  if (max_rate(field).growth == SmallGrowth::at_every_rate) {
    scale = std::max(scale, sgd.level / std::abs(field.drift_at_start().value));
  }
  if (!(scale > 0.0)) return std::nullopt;
  options.times = {10.0 * scale};
  const auto escape = integrate_flow(field, options, context).escape;
  if (!escape) return std::nullopt;
  return Estimate{escape->value * sgd.dim / rate, escape->error * sgd.dim / rate};
}

/// The mean over all runs; nothing unless every run has passed, since the mean of the quick ones
/// alone would flatter.
std::optional<Estimate> mean_of_all(const std::vector<SgdRun>& runs) {
  if (count_reached(runs) < std::ssize(runs)) return std::nullopt;
  return mean_passage(runs);
}

std::optional<Estimate> ratio(const std::optional<Estimate>& a, const std::optional<Estimate>& b) {
  if (!a || !b || b->value == 0.0) return std::nullopt;
  const double value = a->value / b->value;
  return Estimate{value, std::abs(value) * std::hypot(a->error / a->value, b->error / b->value)};
}

}  // namespace

std::string_view to_string(RatePolicy policy) {
  switch (policy) {
    case RatePolicy::equal: return "equal";
    case RatePolicy::sqrt: return "sqrt";
    case RatePolicy::linear: return "linear";
    case RatePolicy::optimal: return "optimal";
  }
  return "";
}

MeasuredGain untied_over_tied(const SequenceModel& tied, const GainOptions& options,
                              const Context& context) {
  if (!tied.student.activation || tied.student.vector_per_token) {
    throw InvalidArgument("student", "the gain compares a tied student with its untied twin");
  }
  SequenceModel untied = tied;
  untied.student.vector_per_token = true;
  const auto tokens = static_cast<double>(tied.tokens());
  MeasuredGain gain;
  gain.rate_untied = gain.rate_tied = options.sgd.rate;
  if (options.policy == RatePolicy::sqrt) gain.rate_tied *= std::sqrt(tokens);
  if (options.policy == RatePolicy::linear) gain.rate_tied *= tokens;
  if (options.policy == RatePolicy::optimal) {
    gain.rate_untied = gain.rate_tied = best_rate(tied, options.sgd.seed, context);
  }
  // The untied flow of M is the tied one divided by L [ssi 35]: at equal rates the gain is L.
  const auto ode_tied = flow_steps(tied, options.sgd, gain.rate_tied, context);
  const bool equal = gain.rate_untied == gain.rate_tied;
  auto ode_untied = equal ? ode_tied : flow_steps(tied, options.sgd, gain.rate_untied, context);
  if (ode_untied) ode_untied = Estimate{tokens * ode_untied->value, tokens * ode_untied->error};
  gain.gain_ode = equal && ode_tied ? Estimate{tokens} : ratio(ode_untied, ode_tied);

  const auto measure = [&](const SequenceModel& model, double rate,
                           const std::optional<Estimate>& ode) -> std::optional<Estimate> {
    SgdOptions sgd = options.sgd;
    sgd.rate = rate;
    sgd.stop_at_level = true;
    if (sgd.steps == 0) {
      if (!ode) {
        throw Refused(
            "at this rate the flow never reaches the level: give `steps`, or a smaller `rate`");
      }
      sgd.steps = static_cast<std::uint64_t>(std::min(max_counted_steps, 50.0 * ode->value));
    }
    return mean_of_all(run_chain(model, sgd, context));
  };
  gain.steps_tied = measure(tied, gain.rate_tied, ode_tied);
  gain.steps_untied = measure(untied, gain.rate_untied, ode_untied);
  gain.complete = gain.steps_tied && gain.steps_untied;
  gain.gain = ratio(gain.steps_untied, gain.steps_tied);
  return gain;
}

}  // namespace onset::ssi
