#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "aim/limits/curve.hpp"
#include "aim/limits/erm/training.hpp"
#include "aim/verbs/model_fields.hpp"
#include "aim/verbs/training_fields.hpp"
#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "numerics/parallel.hpp"
#include "onset/aim.hpp"

namespace onset::aim {
namespace {

struct ErmRow {
  double alpha = 0.0;
  Estimate decay;
  std::optional<Estimate> mse;
  Estimate mmse;
  Estimate train;
  Estimate test;
  Estimate test_clean;
  Estimate objective;
  Estimate overlap;
  Estimate norm;
  std::optional<Estimate> cosine;
  Estimate trace;
  Estimate penalty;
  std::optional<Estimate> rank;
  Estimate delta;
  std::optional<Estimate> threshold;
  Estimate scale;
  std::optional<Estimate> chi;
  std::optional<Estimate> replicon;
  Estimate bistable;
  std::string status;
};

Columns<ErmRow> erm_columns() {
  return Columns<ErmRow>()
      .add("alpha", &ErmRow::alpha, data_alpha_meaning)
      .add("decay", &ErmRow::decay, "weight decay lambda; 0: the limit of small ones")
      .add("mse", &ErmRow::mse,
           "||S - S0||_F^2/d of the trained matrix; 1 + rho where it is 0; empty for hardmax "
           "labels, which do not fix its length")
      .add("mmse", &ErmRow::mmse, "least possible error, from aim curve")
      .add("train", &ErmRow::train, "loss of a training sample, summed over its T^2 entries")
      .add("test", &ErmRow::test,
           "error of a new sample: its loss (linear, fields), the squared error of its "
           "probabilities (softmax), or the share of rows whose choice is wrong (hardmax)")
      .add("test_clean", &ErmRow::test_clean, "the same for labels without noise")
      .add("objective", &ErmRow::objective,
           "what is minimised, per d^2: alpha train + decay penalty")
      .add("overlap", &ErmRow::overlap, "m = Tr(S S0)/d")
      .add("norm", &ErmRow::norm, "q = Tr S^2/d")
      .add("cosine", &ErmRow::cosine, "m/sqrt(q (1 + rho)); empty where S = 0")
      .add("trace", &ErmRow::trace, "Tr S/d")
      .add("penalty", &ErmRow::penalty, "what the decay multiplies, over d")
      .add("rank", &ErmRow::rank,
           "share of eigenvalues that are not 0: the least width ratio of a student with this "
           "minimum; empty for ridge")
      .add("delta", &ErmRow::delta, "variance of the noise in the matrix that is shrunk")
      .add("threshold", &ErmRow::threshold, "eigenvalue below which it is cut; empty for ridge")
      .add("scale", &ErmRow::scale, "factor of what is left")
      .add("chi", &ErmRow::chi, "response of S; empty where infinite, for interpolators")
      .add("replicon", &ErmRow::replicon, "stable below 1; empty where S is 0 or S0")
      .add("bistable", &ErmRow::bistable, "share of samples whose own loss has several minima")
      .add(
          "status", &ErmRow::status,
          "exact: the problem is convex; stable: not convex, one minimum in practice; approximate, "
          "unreliable: up to 1 %, more of the samples have several minima; zero: S = 0");
}

ErmRow row_of(const TrainedPoint& p, const Estimate& mmse) {
  return {.alpha = p.alpha,
          .decay = p.decay,
          .mse = p.mse,
          .mmse = mmse,
          .train = p.train,
          .test = p.test,
          .test_clean = p.test_clean,
          .objective = p.objective,
          .overlap = p.overlap,
          .norm = p.norm,
          .cosine = p.cosine,
          .trace = p.trace,
          .penalty = p.penalty,
          .rank = p.rank,
          .delta = p.delta,
          .threshold = p.threshold,
          .scale = p.scale,
          .chi = p.chi,
          .replicon = p.replicon,
          .bistable = p.bistable,
          .status = std::string(to_string(p.validity))};
}

struct SettledErm {
  AttentionIndexed model;
  std::shared_ptr<const Training> training;
  DecayChoice decay;
};

SettledErm settle_erm(Erm& request) {
  const AttentionIndexed model = settle_model(request);
  settle_loss(model, request.loss);
  const bool hardmax = !model.channel->fixes_length();
  const DecayGoal usual_goal = hardmax ? DecayGoal::test : DecayGoal::mse;
  if (!request.optimise) request.optimise = usual_goal;
  const DecayChoice decay = decay_choice(request.decay);
  if (!decay.optimal && *request.optimise != usual_goal) {
    throw InvalidArgument("optimise",
                          "is what `decay = optimal` makes smallest, and other decays are what "
                          "they are; allowed: leaving it out");
  }
  if (decay.optimal && hardmax && *request.optimise == DecayGoal::mse) {
    throw InvalidArgument("optimise",
                          "mse with hardmax labels, which do not fix the length of "
                          "S; allowed: test");
  }
  if (request.width_ratio && request.penalty != Penalty::trace) {
    throw InvalidArgument("width_ratio",
                          "is of a factorised student W W^T, which only `penalty = trace` has; "
                          "allowed: leaving it out");
  }
  auto training = std::make_shared<const Training>(
      checked_training(model, *request.loss, request.penalty, request.seed));
  if (!request.tol) request.tol = training->sampled() ? sampled_tolerance : grid_tolerance;
  return {model, std::move(training), decay};
}

/// The rows of one sample ratio, from the largest decay to the smallest and back in the order that
/// was asked for: each starts at its neighbour.
std::vector<TrainedPoint> rows_at(const SettledErm& settled, double alpha, DecayGoal goal,
                                  const Context& context) {
  if (settled.decay.optimal) return {settled.training->best(alpha, goal, context)};
  const std::vector<double>& decays = settled.decay.values;
  std::vector<std::size_t> order(decays.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return decays[a] > decays[b]; });
  std::vector<TrainedPoint> points(decays.size());
  Conjugates start{};
  for (const std::size_t i : order) {
    points[i] = settled.training->at(alpha, decays[i], start, context);
  }
  return points;
}

void refuse_narrow(const Erm& request, const TrainedPoint& p) {
  if (!request.width_ratio || !p.rank || p.rank->value <= *request.width_ratio) return;
  throw Refused(
      fmt::format("at alpha = {:.6g} and decay {:.6g} the minimum has rank {:.6g} d: students of a "
                  "smaller width do not reach it, and no symmetric theory describes where they "
                  "end; possible: `width_ratio` of that rank or more, or a simulation with aim gd "
                  "and `width`",
                  p.alpha, p.decay.value, p.rank->value));
}

void judge(const Erm& request, const TrainedPoint& p, Result& result) {
  const std::string where =
      " at alpha = " + to_text(Value(p.alpha)) + ", decay " + to_text(Value(p.decay.value));
  if (p.status.reason == StopReason::diverged) {
    result.unconverged("the equations were not solved" + where);
  } else if (p.too_high()) {
    result.unconverged(
        fmt::format("a multiple of the teacher has a smaller objective, {:.6g}, so "
                    "that this is not the minimum{}",
                    p.bound->value, where));
  } else if (p.test.error > *request.tol) {
    result.unconverged("the asked tolerance " + to_text(Value(*request.tol)) + " was not reached" +
                       where);
  }
}

void add_notes(const Erm& request, const SettledErm& settled, Result& result) {
  const QuadraticProblem problem = settled.training->quadratic_problem(1.0);
  if (!settled.decay.optimal || !settled.training->quadratic() ||
      request.penalty != Penalty::trace) {
    return;
  }
  const DecayFreeWindow window = decay_free_window(problem.rho, problem.noise);
  if (window.high <= window.low) return;
  const double each = settled.training->equations_per_alpha();
  result.summary.emplace_back("no_decay_from", Estimate{window.low / each, 1e-9});
  result.summary.emplace_back("no_decay_to", Estimate{window.high / each, 1e-9});
  result.notes.emplace_back(
      "Between alpha = no_decay_from and no_decay_to the best decay is exactly 0.");
}

void run_erm(const Erm& request, const SettledErm& settled, const Context& context,
             Result& result) {
  const auto columns = erm_columns();
  result.table = columns.table();
  const StateEvolution evolution(settled.model, request.seed, context);
  const std::size_t count = request.alpha.size();
  std::vector<std::vector<TrainedPoint>> points(count);
  std::vector<Estimate> mmse(count);
  numerics::parallel_for(context, count, [&](std::size_t i) {
    points[i] = rows_at(settled, request.alpha[i], *request.optimise, context);
    mmse[i] = evolution.at(request.alpha[i]).mmse;
  });
  for (std::size_t i = 0; i < count; ++i) {
    for (const TrainedPoint& p : points[i]) {
      refuse_narrow(request, p);
      result.table.add_row(columns.cells(row_of(p, mmse[i])));
      judge(request, p, result);
    }
  }
  add_notes(request, settled, result);
}

/// Whether two-token labels without noise are enough to know the matrix [aim 27], and some more.
bool learns_all(const AttentionIndexed& model, double alpha) {
  constexpr double clearly = 1.3;
  const double unknowns = model.rho < 1.0 ? model.rho - 0.5 * model.rho * model.rho : 0.5;
  return model.channel == &softmax_channel() && model.noise_variance == 0.0 &&
         alpha > clearly * 0.5 * unknowns;
}

Cost erm_cost(const Erm& request, const SettledErm& settled) {
  // Measured on one core.
  constexpr double best_seconds = 1.5;
  constexpr double best_of_learned_seconds = 12.0;  // the best decay is tiny, and hard to solve for
  constexpr double best_of_many_seconds = 15.0;     // of hardmax labels: so is theirs
  constexpr double many_samples = 50.0;
  constexpr double best_of_samples = 6.0;  // times a given decay
  const Training& training = *settled.training;
  const double points =
      static_cast<double>(request.alpha.size()) *
      (settled.decay.optimal ? 1.0 : static_cast<double>(settled.decay.values.size()));
  Cost cost;
  cost.memory_bytes = 2e7;
  cost.core_seconds = training_seconds(training, settled.model) * points;
  if (training.quadratic()) {
    cost.method =
        "Closed forms for the shrunk spectrum, two bracketed roots for its noise and threshold.";
  } else if (training.sampled()) {
    cost.method =
        "Newton's method for three numbers; the loss of single samples is minimised at scrambled "
        "points, in 16 independent sets whose scatter is the error.";
    if (settled.decay.optimal) cost.core_seconds *= best_of_samples;
  } else {
    cost.method =
        "Newton's method for three numbers; the loss of single samples is minimised on a grid, and "
        "the distance of coarser grids is the error. The best decay by a golden section.";
    if (settled.decay.optimal) {
      cost.core_seconds = 0.0;
      for (const double alpha : request.alpha) {
        cost.core_seconds +=
            learns_all(settled.model, alpha) ? best_of_learned_seconds : best_seconds;
        if (settled.model.channel == &hardmax_channel()) {
          cost.core_seconds += std::min(alpha / many_samples, 1.0) * best_of_many_seconds;
        }
      }
    }
  }
  return cost;
}

}  // namespace

VerbOf<Erm> Erm::verb() {
  Definition<Erm, SettledErm> d;
  d.family = "aim";
  d.name = "erm";
  d.summary = "where training with weight decay ends, against the least possible error";
  d.details = prose(R"(
      The minimum over S of the loss of n = alpha d^2 samples plus lambda d P(S), in the
      limit of large d (alpha = n/d^2, samples over dimension squared). P is Tr S over S
      >= 0 (trace: weight decay of W in S = W W^T/sqrt(r d), any width of at least the
      rank), the nuclear norm or Tr S^2. Losses are summed over all T^2 entries. Noise of
      variance s is added to the scores, before the softmax. Linear labels and the loss on
      fields are exact to rounding; the others have an error from three grids or from
      replicates. The column status says what is known of the equations; the tolerance is
      for test.)");
  d.fields = model_fields<Erm>();
  add_training_fields(d.fields);
  d.fields
      .add("alpha", &Erm::alpha,
           {.min = 0.0, .max = max_alpha, .open_min = true, .required = true, .grid = true},
           "Sample ratios n/d^2 (samples over dimension squared).")
      .add(
          "decay", &Erm::decay, {},
          "Weight decays lambda: 0.1,0.2 or start:stop:step or log:start:stop:count, 0 meaning the "
          "limit of small ones; or optimal, the best one at each alpha.")
      .add_word(
          "optimise", &Erm::optimise, std::vector{DecayGoal::mse, DecayGoal::test},
          "What the optimal decay makes smallest; mse unless given, test with hardmax labels.")
      .add("width-ratio", &Erm::width_ratio, {.min = 0.0, .max = max_rho, .open_min = true},
           "Width ratio r_s/d of the student; below the rank of the minimum it is refused.");
  d.rows = {{"", erm_columns().list()}};
  d.primary = "test";
  d.method = 5;
  d.usual_tolerance = "1e-3, or 2e-2 where the loss is sampled (three tokens and more),";
  d.examples = {
      "aim erm --channel softmax --loss fields --noise-variance 0.1 --alpha 0.05:0.4:0.05",
      "aim erm --channel linear --rho 0.2 --alpha 0.08 --decay log:0.001:1:10",
      "aim erm --noise-variance 0.25 --alpha 0.1,0.3 --decay 0.01",
      "aim erm --channel hardmax --alpha 0.3 --decay 0.05"};
  d.settle = settle_erm;
  d.cost = erm_cost;
  d.run = run_erm;
  return d.verb();
}

}  // namespace onset::aim
