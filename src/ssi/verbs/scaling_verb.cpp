#include <cmath>
#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/numerics/expression.hpp"
#include "onset/ssi.hpp"
#include "onset/ssi/limits/flow.hpp"
#include "ssi/learners/ensemble.hpp"
#include "ssi/learners/escape.hpp"
#include "ssi/learners/expected_passage.hpp"
#include "ssi/learners/power_law.hpp"
#include "ssi/verbs/model_fields.hpp"
#include "ssi/verbs/sgd_fields.hpp"

namespace onset::ssi {
namespace {

/// Runs that last this many times as long as expected have lost their way: for exponentially
/// distributed times none of 1e7 does.
constexpr double patience = 50.0;

struct ScalingRow {
  double dim = 0.0;
  double rate = 0.0;
  Estimate reached_fraction = {};
  std::optional<Estimate> mean_steps = {};
  std::optional<Estimate> steps_theory = {};
  std::optional<Estimate> ratio = {};
};

Columns<ScalingRow> scaling_columns() {
  return Columns<ScalingRow>()
      .add("dim", &ScalingRow::dim, "dimension d of a token")
      .add("rate", &ScalingRow::rate, "learning rate eta")
      .add("reached_fraction", &ScalingRow::reached_fraction,
           "part of the runs that reach the level")
      .add("mean_steps", &ScalingRow::mean_steps,
           "mean first step with max(|e|, |m|) >= level; empty unless all runs have one", "steps")
      .add("steps_theory", &ScalingRow::steps_theory,
           "the same by the diffusion at large d; empty with a positional encoding", "steps")
      .add("ratio", &ScalingRow::ratio, "mean_steps/steps_theory");
}

struct SettledScaling {
  SequenceModel model;
  Escape escape;
  std::vector<SgdOptions> points;  ///< one for every dimension; steps 0 where none were given
};

/// Dimensions that take seconds to minutes, by the order of the escape.
std::vector<double> quick_dims(int order) {
  if (order <= 1) return {100, 1000, 10'000, 100'000};
  if (order == 2) return {100, 1000, 10'000};
  if (order == 3) return {50, 100, 200, 400};
  return {20, 40, 80};
}

double rate_at(const Scaling& request, const Escape& escape, double dim) {
  if (!request.rate) return usual_rate(escape, dim, request.level);
  double rate = 0.0;
  try {
    numerics::Expression(*request.rate, {{"dim"}, ""}).values(1, &dim, &rate);
  } catch (const numerics::SyntaxError& error) {
    throw InvalidArgument("rate", error.what());
  }
  if (rate > 0.0 && std::isfinite(rate)) return rate;
  throw InvalidArgument("rate", prose("is {} at `dim = {}`; allowed: a positive number at every "
                                      "dimension",
                                      rate, dim));
}

SettledScaling settle_scaling(Scaling& request) {
  SettledScaling settled;
  settled.model = settle_target(request);
  settled.escape = escape_of(settled.model, {});
  if (request.dim.empty()) request.dim = quick_dims(settled.escape.order);
  for (double& dim : request.dim) {
    dim = std::round(dim);
    SgdOptions sgd;
    sgd.dim = dim;
    sgd.rate = rate_at(request, settled.escape, dim);
    sgd.runs = static_cast<std::size_t>(request.runs);
    sgd.start = request.start;
    sgd.level = request.level;
    // Runs at different dimensions must not share their luck: errors of a slope add up from
    // independent ones.
    sgd.seed = request.seed + (static_cast<std::uint64_t>(settled.points.size()) << 32);
    sgd.stop_at_level = true;
    sgd.steps = counted_steps(request.steps, dim, sgd.rate);
    sgd.validate(settled.model);
    settled.points.push_back(sgd);
  }
  return settled;
}

/// The expected steps at one dimension; nothing with a positional encoding, whose two overlaps
/// race.
std::optional<Estimate> theory_at(const SettledScaling& settled, const SgdOptions& sgd,
                                  const Context& context) {
  if (settled.model.positional) return std::nullopt;
  Context quiet = context;
  quiet.progress = nullptr;
  const FlowField field(settled.model, sgd.rate, sgd.seed, quiet);
  const Estimate steps = expected_passage(field, sgd);
  if (std::isfinite(steps.value)) return steps;
  throw Refused(prose(R"(
      at `dim = {}` the rate {:.3g} is beyond the largest at which overlaps grow: the level is
      never reached; a smaller `rate` is needed)",
                      sgd.dim, sgd.rate));
}

std::optional<Estimate> ratio_of(const std::optional<Estimate>& a,
                                 const std::optional<Estimate>& b) {
  if (!a || !b) return std::nullopt;
  const double ratio = a->value / b->value;
  return Estimate{ratio, ratio * std::hypot(a->error / a->value, b->error / b->value)};
}

ScalingRow row_at(const SettledScaling& settled, SgdOptions sgd, const Context& context) {
  ScalingRow row{.dim = sgd.dim, .rate = sgd.rate};
  row.steps_theory = theory_at(settled, sgd, context);
  if (sgd.steps == 0) {
    const double expected = row.steps_theory
                                ? row.steps_theory->value
                                : typical_steps(settled.escape, sgd.dim, sgd.rate, sgd.level);
    sgd.steps = counted_steps(std::ceil(patience * expected), sgd.dim, sgd.rate);
  }
  const std::vector<SgdRun> runs = run_chain(settled.model, sgd, context);
  row.reached_fraction = reached_fraction(runs);
  if (count_reached(runs) == std::ssize(runs)) row.mean_steps = mean_passage(runs);
  row.ratio = ratio_of(row.mean_steps, row.steps_theory);
  return row;
}

/// Mean steps against the dimension, and what the theory has in their place.
struct StepSeries {
  std::vector<double> dims;
  std::vector<Estimate> measured;
  std::vector<Estimate> theory;

  void add(const ScalingRow& row) {
    if (!row.mean_steps) return;
    dims.push_back(row.dim);
    measured.push_back(*row.mean_steps);
    if (row.steps_theory) theory.push_back(*row.steps_theory);
  }
};

/// The slope of other values with the weights of the measured ones, so that a law that is no power
/// can be held against them. Its error is what those of the values, which are independent, make of
/// it.
Estimate slope_alike(const StepSeries& series, const std::vector<Estimate>& values) {
  const auto slope = [&](std::size_t moved) {
    std::vector<Estimate> weighted;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = values[i].value + (i == moved ? values[i].error : 0.0);
      weighted.push_back({value, value * series.measured[i].error / series.measured[i].value});
    }
    return power_law(series.dims, weighted)->exponent.value;
  };
  const double plain = slope(values.size());
  double square = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) square += std::pow(slope(i) - plain, 2);
  return {plain, std::sqrt(square)};
}

/// The law of the theorem at these dimensions, without its constant.
std::vector<Estimate> law_at(const std::vector<double>& dims, int order, double log_power) {
  std::vector<Estimate> law;
  for (const double dim : dims) {
    law.push_back(
        {std::pow(dim, std::max(1, order - 1)) * std::pow(std::log(dim), log_power), 0.0});
  }
  return law;
}

void add_exponents(const SettledScaling& settled, const StepSeries& series, Result& result) {
  const auto law_measured = power_law(series.dims, series.measured);
  result.summary.emplace_back("exponent", law_measured ? law_measured->exponent : no_estimate);
  if (!law_measured) return;
  if (!settled.model.positional) {
    result.summary.emplace_back("exponent_theory", slope_alike(series, series.theory));
  }
  const int order = settled.escape.order;
  const auto law = law_at(series.dims, order, order == 2 ? 1.0 : 0.0);
  result.summary.emplace_back("exponent_law", slope_alike(series, law));
  if (order != 2) return;
  result.summary.emplace_back("exponent_log2",
                              slope_alike(series, law_at(series.dims, order, 2.0)));
}

void run_scaling(const Scaling& request, const SettledScaling& settled, const Context& context,
                 Result& result) {
  const auto columns = scaling_columns();
  result.table = columns.table();
  StepSeries series;
  bool complete = true;
  keep_rows(result, [&] {
    for (std::size_t i = 0; i < settled.points.size(); ++i) {
      context.report(static_cast<double>(i) / static_cast<double>(settled.points.size()), "runs");
      const ScalingRow row = row_at(settled, settled.points[i], context);
      result.table.add_row(columns.cells(row));
      series.add(row);
      complete = complete && row.mean_steps;
    }
  });
  result.summary.emplace_back("order", static_cast<std::int64_t>(settled.escape.order));
  result.summary.emplace_back("law", settled.escape.law);
  add_exponents(settled, series, result);
  if (!complete) {
    result.unconverged("some runs did not reach the level within `steps`; their rows have no mean");
  }
  if (!settled.model.positional) {
    judge_tolerance(request.tol, "ratio", "more `runs` would help", result);
  }
}

Cost scaling_cost(const Scaling& request, const SettledScaling& settled) {
  Cost cost;
  cost.method = prose(R"(
      First passages of the exact chain at every dimension; beside them the mean first passage
      of the diffusion at large d, from its boundary-value problem. The exponent is the slope of
      log(steps) against log(dim), weighted by the errors.)");
  cost.memory_bytes = 100e6;
  cost.core_seconds = escape_seconds(settled.model);
  for (SgdOptions sgd : settled.points) {
    // A block of runs ends with its slowest, at about this multiple of the mean.
    constexpr double slowest = 3.0;
    const double expected = slowest * typical_steps(settled.escape, sgd.dim, sgd.rate, sgd.level);
    sgd.steps = counted_steps(request.steps > 0.0 ? std::min(request.steps, expected) : expected,
                              sgd.dim, sgd.rate);
    cost.core_seconds += chain_seconds(settled.model, sgd);
    if (!settled.model.positional) cost.core_seconds += FlowField::seconds(settled.model);
  }
  return cost;
}

}  // namespace

VerbOf<Scaling> Scaling::verb() {
  Definition<Scaling, SettledScaling> d;
  d.family = "ssi";
  d.name = "scaling";
  d.summary = "how the time to weak recovery grows with the dimension, beside the theory";
  d.details = prose(R"(
      At every dimension the exact chain runs until max(|e|, |m|) reaches `level`. The mean
      number of steps stands beside that of the diffusion at large d, and its slope against the
      dimension beside those of the theory: d for a target whose first visible degree is 1, d
      log d for degree 2, d^(s-1) for degree s >= 3. Without `rate`, the rate is half of the
      largest at which overlaps of the size of their noise still grow; it is of the order of the best one
      and falls like d^(-(s-2)/2) for s >= 3. An expression of `dim` takes its place. The loss
      is |y-f|^2/2.)");
  d.fields = model_fields<Scaling>();
  d.fields
      .add("dim", &Scaling::dim, {.min = 3.0, .max = max_dim, .grid = true},
           "Dimensions d of a token, rounded to whole numbers; unless given a few that are quickly "
           "done.")
      .add("rate", &Scaling::rate, {}, prose(R"(
          Learning rate eta, an expression of dim such as '0.1/sqrt(dim)'; unless given about
          the best.)"))
      .add("runs", &Scaling::runs, {.min = 2, .max = 1e7}, "Independent runs at each dimension.")
      .add_word("start", &Scaling::start, {Start::random, Start::zero, Start::overlapped}, prose(R"(
          random: uniform on the sphere; zero: e = m = 0 exactly; overlapped: m = 1/sqrt(d), e =
          0.)"))
      .add("level", &Scaling::level, {.min = 0.0, .max = 1.0, .open_min = true},
           "Overlap max(|e|, |m|) that counts as weak recovery.")
      .add("steps", &Scaling::steps, {.min = 0.0, .max = max_steps, .whole = true},
           "Steps of a run at most; 0: 50 times the expected ones.");
  d.rows = {{"", scaling_columns().list()}};
  d.primary = "ratio";
  d.examples = {
      "ssi scaling --target H2sum --student tied --dim log:100:10000:5",
      "ssi scaling --target H3sum --student tied --activation 'sin(u)' --dim 50,100,200 --runs 256",
      "ssi scaling --target H2sum --student tied --rate '1/log(dim)' --dim 100,1000,10000"};
  d.method = 2;
  d.settle = settle_scaling;
  d.cost = scaling_cost;
  d.run = run_scaling;
  return d.verb();
}

}  // namespace onset::ssi
