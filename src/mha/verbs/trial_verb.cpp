#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "mha/learners/phase_errors.hpp"
#include "mha/verbs/instance_fields.hpp"
#include "mha/verbs/learning_cost.hpp"
#include "mha/verbs/phase_columns.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

struct TrialRow {
  int phase = 0;
  std::string name;
  std::optional<double> projection_error = {};
  std::optional<double> hull_error = {};
  std::optional<double> hull_predicted = {};
  std::optional<double> theta_error = {};
  std::optional<double> w_error = {};
  std::optional<double> score = {};
  std::optional<double> gap = {};
  std::optional<double> residual = {};
  std::optional<std::string> verdict = {};
  std::optional<std::string> reason = {};
};

Columns<TrialRow> trial_columns() {
  return Columns<TrialRow>()
      .add("phase", &TrialRow::phase, "1 to 6; 0 where the examples were refused before the first")
      .add("name", &TrialRow::name, name_text)
      .add("projection_error", &TrialRow::projection_error,
           "relative error of the sum of projections; empty where they cancel")
      .add("hull_error", &TrialRow::hull_error,
           "largest distance of a head from the hull, relative to its norm")
      .add("hull_predicted", &TrialRow::hull_predicted, "scaling of that error with N, constant 1")
      .add("theta_error", &TrialRow::theta_error, "largest relative error of a theta")
      .add("w_error", &TrialRow::w_error, "the same for w")
      .add("score", &TrialRow::score, "largest residual over pivot among the best rows")
      .add("gap", &TrialRow::gap, gap_text)
      .add("residual", &TrialRow::residual, residual_text)
      .add("verdict", &TrialRow::verdict,
           "of the whole run: certified, recovered or refused; empty until it is over")
      .add("reason", &TrialRow::reason, "why it is not certified, in the last row");
}

/// What every finished phase knew, beside the truth that the learner does not see.
class PhaseTable {
 public:
  PhaseTable(const Trial& request, const InstanceLaw& law, const Layer& truth)
      : truth_(truth),
        predicted_(predicted_hull_error(law, static_cast<double>(request.samples))) {}

  /// The phases that are finished so far.
  void write(const Learned& learned, Result& result) const {
    result.table = trial_columns().table(rows_of(learned));
  }
  /// All of them, with the verdict and its reason. A run that was refused before its first phase
  /// has a row that says so: tables of many runs show all of them.
  void write_end(const Learned& learned, Result& result) const {
    std::vector<TrialRow> rows = rows_of(learned);
    if (rows.empty()) rows.push_back({.phase = 0, .name = "checks of the examples"});
    for (TrialRow& row : rows) row.verdict = to_string(learned.verdict);
    if (!learned.reason.empty()) rows.back().reason = learned.reason;
    result.table = trial_columns().table(rows);
  }

 private:
  [[nodiscard]] std::vector<TrialRow> rows_of(const Learned& learned) const {
    std::vector<TrialRow> rows;
    for (const PhaseReport& phase : learned.phases) {
      const PhaseErrors errors = errors_after(phase, learned, truth_);
      TrialRow row{.phase = phase.phase,
                   .name = phase.name,
                   .projection_error = finite(errors.projection),
                   .hull_error = finite(errors.hull),
                   .theta_error = finite(errors.theta),
                   .w_error = finite(errors.w),
                   .score = finite(phase.score),
                   .gap = finite(phase.gap),
                   .residual = finite(phase.residual)};
      if (phase.phase == 4) row.hull_predicted = predicted_;
      rows.push_back(std::move(row));
    }
    return rows;
  }

  const Layer& truth_;
  std::optional<double> predicted_;
};

void run_trial(const Trial& request, const InstanceLaw& law, const Context& context,
               Result& result) {
  const Layer truth = draw_layer(law, request.seed);
  const auto samples = static_cast<std::size_t>(request.samples);
  LearnOptions options;
  options.polish = !request.no_polish;
  const PhaseTable table(request, law, truth);
  options.watch = [&](const Learned& so_far) { table.write(so_far, result); };
  const Learned learned = learn(
      draw_examples(law, truth, samples, request.seed, "mha examples", context), options, context);
  if (learned.interrupted) throw Interrupted();
  table.write_end(learned, result);
  result.summary = {{"verdict", to_string(learned.verdict)},
                    {"reason", learned.reason},
                    {"heads_found", std::int64_t{learned.heads}}};
}

Cost trial_cost(const Trial& request, const InstanceLaw& law) {
  return learning_cost(static_cast<double>(request.samples), law.tokens, law.dim, law.heads,
                       law.inputs);
}

}  // namespace

VerbOf<Trial> Trial::verb() {
  Definition<Trial, InstanceLaw> d;
  d.family = "mha";
  d.name = "trial";
  d.summary = "draws a layer, learns it and compares every phase with the truth";
  d.details = prose(R"(
      Does what mha generate, learn and evaluate do, in one go and without files, for studies
      and figures. The learner sees the examples only, and is not told the number of heads. A
      refusal is a result here, not a failure: it has a row, also where no phase was reached. The
      numbers belong to one layer and one set of examples and have no errors; several seeds show how
      they scatter.)");
  d.fields = instance_fields<Trial>();
  d.fields.add("no-polish", &Trial::no_polish, {},
               "Stops at what the geometry gives, before the polish.");
  d.rows = {{"", trial_columns().list()}};
  d.method = 12;
  d.examples = {"mha trial --heads 2 --dim 8 --tokens 3 --samples 100000",
                "mha trial --degenerate cancelling --samples 20000"};
  d.settle = settle_instance<Trial>;
  d.cost = trial_cost;
  d.run = run_trial;
  return d.verb();
}

}  // namespace onset::mha
