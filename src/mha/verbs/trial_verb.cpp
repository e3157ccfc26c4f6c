#include <algorithm>
#include <cmath>
#include <limits>

#include "core/plain_verb.hpp"
#include "mha/learners/six_phases.hpp"
#include "mha/model/canonical.hpp"
#include "mha/verbs/mha_verbs.hpp"
#include "mha/verbs/options.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

double norm(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

/// Sums of projections below this share of the projections are rounding.
constexpr double cancelled = 1e-12;

/// |estimate - sum of the true w| / |sum of the true w|; nothing where the true w cancel.
std::optional<double> projection_error(const std::vector<double>& estimate, const Layer& truth) {
  if (estimate.empty()) return std::nullopt;
  std::vector<double> sum(estimate.size());
  for (int i = 0; i < truth.heads; ++i) {
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += truth.w_of(i)[c];
  }
  std::vector<double> off(sum.size());
  for (std::size_t c = 0; c < sum.size(); ++c) off[c] = estimate[c] - sum[c];
  if (norm(sum) <= cancelled * norm(truth.w)) return std::nullopt;
  return norm(off) / norm(sum);
}

/// Largest distance of a true head from the hull, relative to its norm.
std::optional<double> hull_error(const Knowledge& known, const Layer& truth) {
  if (known.hull_base.empty()) return std::nullopt;
  const std::size_t size = known.hull_base.size();
  double worst = 0.0;
  for (int i = 0; i < truth.heads; ++i) {
    std::vector<double> off(size);
    for (std::size_t c = 0; c < size; ++c) off[c] = truth.theta_of(i)[c] - known.hull_base[c];
    for (std::size_t first = 0; first < known.hull_directions.size(); first += size) {
      const double* direction = &known.hull_directions[first];
      double along = 0.0;
      for (std::size_t c = 0; c < size; ++c) along += off[c] * direction[c];
      for (std::size_t c = 0; c < size; ++c) off[c] -= along * direction[c];
    }
    const std::vector<double> theta(truth.theta_of(i).begin(), truth.theta_of(i).end());
    worst = std::max(worst, norm(off) / std::max(norm(theta), std::numeric_limits<double>::min()));
  }
  return worst;
}

/// Scaling of the hull's error with the number of examples [mha 12], constant 1.
std::optional<double> predicted_hull_error(const InstanceLaw& law, double samples) {
  const double agreement = (law.heads - 1.0) * (law.tokens - 1.0);
  if (agreement <= 0.0) return std::nullopt;
  const double slabs = 8.0 * law.dim * law.dim;
  const double share = slabs / (samples * law.tokens * (law.tokens - 1.0));
  return std::pow(share, 1.0 / agreement) * law.dim / std::sqrt(2.0 * slabs);
}

/// What a phase adds, against the truth.
struct PhaseErrors {
  std::optional<double> projection;
  std::optional<double> hull;
  std::optional<double> theta;
  std::optional<double> w;
};

PhaseErrors errors_after(const PhaseReport& phase, const Learned& learned, const Layer& truth) {
  PhaseErrors out;
  const auto heads = [&](const Layer& layer) {
    if (const auto errors = parameter_errors(layer, truth)) {
      out.theta = errors->theta;
      out.w = errors->w;
    }
  };
  if (phase.phase == 1) out.projection = projection_error(learned.knowledge.crude_w, truth);
  if (phase.name == "trimmed refinement") {
    out.projection = projection_error(learned.knowledge.refined_w, truth);
  }
  if (phase.phase == 4) out.hull = hull_error(learned.knowledge, truth);
  if (phase.name == "least squares") heads(learned.geometry);
  if (phase.name == "polish") heads(learned.layer);
  return out;
}

Result run_trial(const Parameters& p, const Context& context) {
  const InstanceLaw law = read_instance(p);
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  const Layer truth = draw_layer(law, seed);
  const auto samples = static_cast<std::size_t>(p.integer("samples"));
  LearnOptions options;
  options.polish = !p.flag("no-polish");
  const Learned learned =
      learn(draw_examples(law, truth, samples, seed, "mha examples", context), options, context);
  Result result;
  result.table = Table(trial_verb().columns());
  for (const PhaseReport& phase : learned.phases) {
    const PhaseErrors errors = errors_after(phase, learned, truth);
    const auto predicted =
        phase.phase == 4 ? predicted_hull_error(law, static_cast<double>(samples)) : std::nullopt;
    result.table.add_row({std::int64_t{phase.phase}, phase.name, cell(errors.projection),
                          cell(errors.hull), cell(predicted), cell(errors.theta), cell(errors.w),
                          cell(phase.score), cell(phase.gap), cell(phase.residual),
                          to_string(learned.verdict)});
  }
  if (learned.interrupted) {
    result.status = ResultStatus::interrupted;
    return result;
  }
  result.summary = {{"verdict", to_string(learned.verdict)},
                    {"reason", learned.reason},
                    {"heads_found", std::int64_t{learned.heads}}};
  return result;
}

Cost trial_cost(const Parameters& p) {
  Cost cost = learning_cost(
      static_cast<double>(p.integer("samples")), static_cast<int>(p.integer("tokens")),
      static_cast<int>(p.integer("dim")), static_cast<int>(p.integer("heads")));
  return cost;
}

}  // namespace

Verb trial_verb() {
  PlainVerb verb;
  verb.family = "mha";
  verb.name = "trial";
  verb.summary = "draws a layer, learns it and compares every phase with the truth";
  verb.details =
      "mha generate, learn and evaluate in one go and without files, for studies and figures. The "
      "learner sees the examples only; it is not told the number of heads. A refusal is a result "
      "here, not a failure.";
  verb.parameters = instance_parameters();
  verb.parameters.push_back(make_parameter("no-polish", ParameterKind::flag, false, 0, 1,
                                           "Stop at what the geometry gives."));
  verb.columns = {
      {"phase", "1 to 6", "", false},
      {"name", "what it did", "", false},
      {"projection_error", "relative error of the sum of projections; empty where they cancel", "",
       false},
      {"hull_error", "largest distance of a head from the hull, relative to its norm", "", false},
      {"hull_predicted", "scaling of that error with N, constant 1", "", false},
      {"theta_error", "largest relative error of a theta", "", false},
      {"w_error", "the same for w", "", false},
      {"score", "largest residual over pivot among the best rows", "", false},
      {"gap", "ratio of singular values behind the heads", "", false},
      {"residual", "relative residual on held-out examples", "", false},
      {"verdict", "of the whole run: certified, recovered or refused", "", false}};
  verb.examples = {"mha trial --heads 2 --dim 8 --tokens 3 --samples 100000",
                   "mha trial --degenerate cancelling --samples 20000"};
  verb.method = 4;
  verb.cost = trial_cost;
  verb.run = run_trial;
  return to_verb(std::move(verb));
}

}  // namespace onset::mha
