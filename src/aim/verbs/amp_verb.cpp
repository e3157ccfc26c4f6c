#include <fmt/format.h>

#include <cmath>
#include <string>

#include "aim/verbs/aim_verbs.hpp"
#include "aim/verbs/amp_plan.hpp"
#include "aim/verbs/run_options.hpp"
#include "core/plain_verb.hpp"
#include "onset/aim/learners/amp.hpp"
#include "onset/aim/limits/curve.hpp"
#include "onset/aim/limits/spectrum.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

constexpr double default_tolerance = 0.05;
/// Below this many samples for each direction of a token the algorithm is not to be trusted.
constexpr double few_samples = 5.0;
/// Measured product rate of one core, for estimates only.
constexpr double flops_per_second = 3e10;
/// Likewise, of one sample's posterior with two and three tokens.
constexpr double hardmax_seconds = 2e-6;
constexpr double three_token_seconds = 8e-5;
/// At size d thresholds are blurred by some 10/d of alpha, and errors known to 0.1/d.
constexpr double finite_directions = 10.0;
constexpr double finite_error = 0.1;
constexpr double too_small = 3.0;  ///< a variance, by this factor

std::vector<Column> amp_columns() {
  return {
      {"alpha", "sample ratio alpha = n/d^2 (samples over dimension squared)", "", false},
      {"mse",
       "||S_hat - S||_F^2/d, also the test error of an off-diagonal score; mean over the runs "
       "that did not diverge",
       "", true},
      {"mse_theory", "least possible error, from state evolution", "", true},
      {"variance", "the algorithm's own idea of its error; equal on the Nishimori line", "", true},
      {"diverged", "runs that diverged", "", false}};
}

Table trajectory_table() {
  return Table(
      {{"alpha", "sample ratio", "", false},
       {"run", "from 1", "", false},
       {"iteration", "from 1", "", false},
       {"mse", "||S_hat - S||_F^2/d", "", false},
       {"variance", "the algorithm's own idea of it", "", false},
       {"overlap", "Tr(S S_hat)/d", "", false},
       {"self_overlap", "||S_hat||_F^2/d; equal to overlap on the Nishimori line", "", false},
       {"qhat", "precision of the matrix as the labels show it", "", false},
       {"step", "||S_hat' - S_hat||_F^2/d", "", false},
       {"smallest", "eigenvalue of that matrix", "", false},
       {"largest", "eigenvalue of that matrix", "", false}});
}

Cell known(double x) {
  return std::isfinite(x) ? Cell(x) : Cell();
}

void add_steps(double alpha, std::int64_t run, const AmpRun& amp, Table& table) {
  std::int64_t iteration = 0;
  for (const AmpStep& s : amp.steps) {
    table.add_row({alpha, run, ++iteration, known(s.mse), known(s.variance), known(s.overlap),
                   known(s.self_overlap), known(s.conjugate), known(s.step), s.smallest,
                   s.largest});
  }
}

/// What the runs at one alpha gave.
struct Outcome {
  std::vector<double> mse;
  std::vector<double> variance;
  std::int64_t diverged = 0;
  std::int64_t unfinished = 0;
  std::int64_t too_sure = 0;  ///< runs whose variance is far below their error

  /// `likely`: error that a run may have at this size, for when the truth is not known.
  void add(const AmpRun& run, double likely, double finite_size) {
    if (run.status.reason == StopReason::diverged) {
      ++diverged;
      return;
    }
    unfinished += run.status.converged() ? 0 : 1;
    mse.push_back(run.steps.back().mse);
    variance.push_back(run.steps.back().variance);
    const double error = std::isfinite(mse.back()) ? mse.back() : likely;
    too_sure += error > too_small * variance.back() + finite_size ? 1 : 0;
  }
  [[nodiscard]] static Cell mean(const std::vector<double>& values) {
    if (values.empty() || !std::isfinite(values[0])) return {};
    return numerics::mean_over_runs(values);
  }
};

/// A variance below this has collapsed. At size d the algorithm takes itself to be perfect some 1/d
/// too early: next to perfect recovery that is no divergence, and seen by comparing with `mse`.
double least_variance(const StateEvolution& evolution, double alpha, std::size_t dim) {
  constexpr double share = 0.3;
  return share *
         evolution.at(alpha * (1.0 + finite_directions / static_cast<double>(dim))).mmse.value;
}

/// What state evolution says some samples earlier: errors at size d are no smaller.
double likely_error(const StateEvolution& evolution, double alpha, std::size_t dim) {
  return evolution.at(alpha / (1.0 + finite_directions / static_cast<double>(dim))).mmse.value;
}

AmpOptions amp_options(const Parameters& p) {
  AmpOptions options;
  options.max_iterations = static_cast<int>(p.integer("iterations"));
  options.damping = p.real("damping");
  options.norm_aware = p.text("variances") == "norms";
  return options;
}

AmpRun run_once(const AmpPlan& plan, const AmpOptions& options, double alpha, std::int64_t run,
                const Context& context) {
  const AmpPlan::Problem problem = plan.problem(alpha, static_cast<std::uint64_t>(run), context);
  try {
    return approximate_message_passing(plan.model(), problem.data, problem.truth, options, context);
  } catch (const InvalidArgument& error) {
    if (error.field() != "labels") throw;
    throw InvalidArgument("--data", error.what());
  }
}

void judge(const AmpPlan& plan, double alpha, const Outcome& outcome, Result& result) {
  const std::string where = "at alpha = " + to_text(Value(alpha));
  if (outcome.mse.empty()) {
    result.status = ResultStatus::unconverged;
    result.reason = "all runs diverged " + where;
  } else if (outcome.unfinished > 0) {
    result.status = ResultStatus::unconverged;
    result.reason = std::to_string(outcome.unfinished) + " of " +
                    std::to_string(outcome.mse.size()) + " run(s) " + where +
                    " still moved after the last iteration; more --iterations may help";
  }
  if (outcome.too_sure > 0) {
    result.notes.push_back(
        "alpha = " + to_text(Value(alpha)) + ": " + std::to_string(outcome.too_sure) +
        " run(s) are surer of themselves than they should be: their variance is far below the "
        "error that they have (or, without a truth, may well have at this size).");
  }
  const double per_direction =
      ratio_of(samples_of(alpha, plan.dim()), plan.dim()) * static_cast<double>(plan.dim());
  if (per_direction < few_samples) {
    result.notes.push_back(fmt::format(
        "alpha = {}: alpha d = {:.3g} is below 5: so few samples are far from the limit of large "
        "d.",
        to_text(Value(alpha)), per_direction));
  }
}

Result run_amp(const Parameters& p, const Context& context) {
  const AmpPlan plan(p);
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  const StateEvolution evolution(plan.model(), seed, context);
  AmpOptions options = amp_options(p);
  const std::int64_t runs = p.integer("runs");
  Result result;
  result.table = Table(amp_columns());
  add_sizes(p.real("rho"), plan.model(), plan.dim(), plan.alphas(), result);
  Table trajectory = trajectory_table();
  keep_rows(result, [&] {
    const double all = static_cast<double>(plan.alphas().size()) * static_cast<double>(runs);
    double done = 0.0;
    for (const double alpha : plan.alphas()) {
      const double ratio = ratio_of(samples_of(alpha, plan.dim()), plan.dim());
      const Estimate theory = evolution.at(ratio).mmse;
      options.settles = theory.value > 0.0;
      options.least_variance = least_variance(evolution, ratio, plan.dim());
      const double likely = likely_error(evolution, ratio, plan.dim());
      Outcome outcome;
      for (std::int64_t run = 0; run < runs; ++run) {
        const AmpRun amp = run_once(plan, options, alpha, run, context);
        outcome.add(amp, likely, finite_error / static_cast<double>(plan.dim()));
        add_steps(alpha, run + 1, amp, trajectory);
        context.report(++done / all, "message passing");
      }
      result.table.add_row({alpha, outcome.mean(outcome.mse), theory,
                            outcome.mean(outcome.variance), outcome.diverged});
      judge(plan, alpha, outcome, result);
    }
  });
  result.artifacts.push_back({"trajectory.csv", std::move(trajectory)});
  return result;
}

/// Measured: few iterations where there is little to learn, many from perfect recovery on (with
/// hardmax, where little error is left).
double typical_iterations(const Parameters& p, double alpha) {
  const std::string& channel = p.text("channel");
  const auto tokens = static_cast<double>(p.integer("tokens"));
  const double seen = tokens * (tokens + 1.0) - (channel == "softmax" ? 2.0 : 0.0);
  const double enough = channel == "hardmax" ? 2.0 / (tokens * (tokens - 1.0))
                                             : shrinkage_without_noise(p.real("rho")) / seen;
  return 10.0 + 85.0 * std::pow(std::min(1.0, alpha / enough), 2);
}

Cost amp_cost(const Parameters& p) {
  Cost cost;
  cost.method =
      "Approximate message passing: per iteration two products of an n T x d matrix with a d x d "
      "one, the output function of every sample, and one eigendecomposition; damped, variances in "
      "proportion to the tokens' norms. Memory: tokens once, their products once, labels and "
      "messages; never d^2 per sample.";
  StoredShape stored;
  if (p.has("data")) {
    const auto shape = stored_shape(p.text("data"));
    if (!shape) return cost;  // the run itself says what is wrong
    stored = *shape;
  }
  const bool drawn = stored.samples == 0.0;
  const auto d = drawn ? static_cast<double>(p.integer("dim")) : stored.dim;
  const auto tokens = static_cast<double>(p.integer("tokens"));
  const std::vector<double> alphas =
      p.has("alpha") ? p.reals("alpha") : std::vector<double>{stored.samples / (d * d)};
  const double posterior = p.text("channel") != "hardmax" ? 0.0
                           : p.integer("tokens") == 2     ? hardmax_seconds
                                                          : three_token_seconds;
  for (const double alpha : alphas) {
    const double samples = std::max(1.0, alpha * d * d);
    const double flops = 4.0 * samples * tokens * d * d + 15.0 * d * d * d;
    cost.core_seconds += (flops / flops_per_second + posterior * samples) *
                         typical_iterations(p, alpha) * static_cast<double>(p.integer("runs"));
  }
  const double most = most_samples(alphas, d);
  const double messages =
      program_bytes +
      8.0 * (2.0 * most * tokens * d + 4.0 * most * tokens * (tokens + 1.0) + 10.0 * d * d);
  cost.memory_bytes =
      drawn ? std::max(messages, data_bytes(most, tokens, d, std::max(1.0, p.real("rho") * d)))
            : messages + 8.0 * stored.samples * tokens * (d + 2.0 * tokens);
  return cost;
}

}  // namespace

Verb amp_verb() {
  PlainVerb verb;
  verb.family = "aim";
  verb.name = "amp";
  verb.summary = "approximate message passing on data of the attention-indexed model";
  verb.details =
      "Draws teachers and n = alpha d^2 samples (or reads them with --data), runs the structured "
      "algorithm and compares its error with state evolution's. alpha is n/d^2, samples over "
      "dimension squared; expect agreement for alpha d of 10 and more, away from perfect recovery. "
      "With --out, trajectory.csv has every iteration: errors, overlaps (equal on the Nishimori "
      "line), eigenvalues. Errors are the scatter of the runs, with Student's factor for few of "
      "them; of one run they are not known. Runs that diverge are counted; runs that still move "
      "after --iterations make "
      "the result unconverged. The tolerance is not used to stop.";
  verb.parameters = problem_parameters();
  verb.read_files = settle_problem;
  verb.parameters.push_back(make_parameter("iterations", ParameterKind::integer, std::int64_t{500},
                                           1, 100000, "Most iterations of a run."));
  verb.parameters.push_back(
      make_parameter("damping", ParameterKind::real, 0.5, 0.0, 0.99,
                     "Share of the old estimate that is kept; more while the estimate "
                     "oscillates; 0: none ever."));
  verb.parameters.push_back(make_word("variances", {"norms", "plain"},
                                      "Variances of scores: in proportion to the tokens' squared "
                                      "norms, or all the same."));
  verb.columns = amp_columns();
  verb.primary = "mse";
  verb.default_tol = default_tolerance;
  verb.method = 3;
  verb.examples = {"aim amp --dim 100 --channel softmax --tokens 2 --rho 0.5 --alpha 0.1,0.12",
                   "aim amp --dim 100 --channel hardmax --rho 0.5 --alpha 0.2:1:0.2 --runs 8",
                   "aim amp --data data"};
  verb.cost = amp_cost;
  verb.run = run_amp;
  return to_verb(std::move(verb));
}

}  // namespace onset::aim
