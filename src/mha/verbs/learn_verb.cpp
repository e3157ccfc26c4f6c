#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "mha/learners/six_phases.hpp"
#include "mha/verbs/array_files.hpp"
#include "mha/verbs/certificate_file.hpp"
#include "mha/verbs/folder_fields.hpp"
#include "mha/verbs/learning_cost.hpp"
#include "mha/verbs/phase_columns.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

Columns<PhaseReport> phase_columns() {
  return Columns<PhaseReport>()
      .add("phase", &PhaseReport::phase, phase_text)
      .add("name", &PhaseReport::name, name_text)
      .add("rows", &PhaseReport::rows, "rows, slabs, tuples or examples that it worked with")
      .add("score", &PhaseReport::score,
           "largest residual over pivot among the best rows: how far heads disagree there")
      .add("inflation", &PhaseReport::inflation,
           "least factor on the slabs' tolerances that leaves a point in all")
      .add("violations", &PhaseReport::violations,
           "share of slabs that the base or a head misses by more than 8 tolerances")
      .add("gap", &PhaseReport::gap, gap_text)
      .add("residual", &PhaseReport::residual, residual_text);
}

void write_rows(const Learned& learned, Result& result) {
  const auto columns = phase_columns();
  result.table = Table(columns.list());
  for (PhaseReport phase : learned.phases) {
    for (auto* value : {&phase.score, &phase.inflation, &phase.gap, &phase.residual}) {
      *value = finite(*value);
    }
    result.table.add_row(columns.cells(phase));
  }
}

void add_summary(const Learned& learned, Result& result) {
  const Evidence& e = learned.evidence;
  const auto add = [&result](const char* name, const auto& value) {
    result.summary.emplace_back(name, detail::to_cell(value));
  };
  add("verdict", to_string(learned.verdict));
  add("reason", learned.reason);
  if (learned.heads == 0) return;
  add("heads", learned.heads);
  add("gap", e.gap);
  if (learned.geometry.heads > 0) add("residual_geometry", learned.geometry_residual);
  if (learned.layer.heads == 0) return;
  add("residual", learned.residual);
  add("residual_all", learned.residual_all);
  add("disagreeing", learned.disagreeing);
  add("jacobian_rank", e.jacobian_rank);
  add("jacobian_unknowns", learned.layer.heads * learned.layer.dim * learned.layer.dim);
  add("jacobian_smallest", e.jacobian_smallest);
  add("features_smallest", e.features_smallest);
  add("slabs_proved", e.slabs_proved);
  add("slabs_violated", e.slabs_violated);
  add("posterior_gap", e.posterior_gap);
  add("off_the_heads", e.off_the_heads);
  add("hull_bound", e.hull_bound);
  add("support_along", e.support_along);
  add("support_across", e.support_across);
  add("support_sine", e.support_sine);
  add("tuple_tau", e.tuple_tau);
  add("wrong_tuple_bound", e.rejected.bound);
}

ExampleFiles settle_learn(Learn& request) {
  ExampleFiles files = find_examples(request.examples, request.inputs);
  request.inputs = files.inputs;
  return files;
}

void run_learn(const Learn& request, const ExampleFiles& files, const Context& context,
               Result& result) {
  const Examples examples = read_examples(files);
  LearnOptions options;
  options.heads = request.heads.value_or(0);
  options.polish = !request.no_polish;
  options.watch = [&result](const Learned& so_far) { write_rows(so_far, result); };
  const Learned learned = learn(examples, options, context);
  write_rows(learned, result);
  add_summary(learned, result);
  result.artifacts.push_back(
      {"certificate.json", certificate_text(certificate_of(learned, examples))});
  if (learned.verdict != Verdict::refused) add_layer(learned.layer, "", result.artifacts);
  if (learned.geometry.heads > 0) add_layer(learned.geometry, "geometry/", result.artifacts);
  if (learned.interrupted) throw Interrupted();
  if (learned.verdict == Verdict::refused) throw Refused(learned.reason);
  if (learned.verdict == Verdict::recovered) result.unconverged(learned.reason);
}

Cost learn_cost(const Learn& request, const ExampleFiles& files) {
  return learning_cost(static_cast<double>(files.count), files.tokens, files.dim,
                       request.heads.value_or(2), files.inputs);
}

}  // namespace

VerbOf<Learn> Learn::verb() {
  Definition<Learn, ExampleFiles> d;
  d.family = "mha";
  d.name = "learn";
  d.summary = "a multi-head attention layer from examples, in six phases, with a certificate";
  d.details = prose(R"(
      Reads X.npy (N x k x d) and Y.npy (the same shape) from a folder and
      finds the heads of F(X) = sum_i softmax(X theta_i X^T) X w_i. The rows say what is known
      after each phase, from labels alone; their numbers are facts about these examples, exact
      to rounding, and have no errors. The verdict in the summary is certified, recovered (a
      layer that lacks a certificate; the reason says which) or refused (the reason says why);
      the exit code is 0 for certified only. The folder `out` receives theta.npy and w.npy (m x
      d x d, largest |w| first), geometry/ (the same before the polish) and certificate.json,
      which mha verify checks.)");
  d.fields = examples_and_inputs_fields<Learn>();
  d.fields
      .add("heads", &Learn::heads, {.min = 1, .max = max_heads_found},
           "Number of heads; found from the singular gap unless given.")
      .add("no-polish", &Learn::no_polish, {},
           "Stops at what the geometry gives, before the least-squares polish.");
  d.rows = {{"", phase_columns().list()}};
  d.method = 10;
  d.examples = {"mha learn examples --out model", "mha learn examples --heads 3 --no-polish"};
  d.settle = settle_learn;
  d.cost = learn_cost;
  d.run = run_learn;
  return d.verb();
}

}  // namespace onset::mha
