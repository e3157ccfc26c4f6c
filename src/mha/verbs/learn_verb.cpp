#include "core/plain_verb.hpp"
#include "mha/learners/six_phases.hpp"
#include "mha/verbs/files.hpp"
#include "mha/verbs/mha_verbs.hpp"
#include "mha/verbs/options.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

Table phase_table(const Learned& learned) {
  Table table(learn_verb().columns());
  for (const PhaseReport& p : learned.phases) {
    table.add_row({std::int64_t{p.phase}, p.name, static_cast<std::int64_t>(p.rows), cell(p.score),
                   cell(p.inflation), cell(p.violations), cell(p.gap), cell(p.residual)});
  }
  return table;
}

void add_summary(const Learned& learned, Result& result) {
  const Evidence& e = learned.evidence;
  result.summary = {{"verdict", to_string(learned.verdict)}, {"reason", learned.reason}};
  if (learned.heads == 0) return;
  result.summary.emplace_back("heads", std::int64_t{learned.heads});
  result.summary.emplace_back("gap", e.gap);
  if (learned.geometry.heads > 0) {
    result.summary.emplace_back("residual_geometry", learned.geometry_residual);
  }
  if (learned.layer.heads == 0) return;
  result.summary.emplace_back("residual", learned.residual);
  result.summary.emplace_back("residual_all", learned.residual_all);
  result.summary.emplace_back("disagreeing", static_cast<std::int64_t>(learned.disagreeing));
  result.summary.emplace_back("jacobian_rank", std::int64_t{e.jacobian_rank});
  result.summary.emplace_back("jacobian_unknowns", std::int64_t{learned.layer.heads} *
                                                       learned.layer.dim * learned.layer.dim);
  result.summary.emplace_back("jacobian_smallest", e.jacobian_smallest);
  result.summary.emplace_back("features_smallest", e.features_smallest);
  result.summary.emplace_back("slabs_proved", std::int64_t{e.slabs_proved});
  result.summary.emplace_back("slabs_violated", std::int64_t{e.slabs_violated});
  result.summary.emplace_back("posterior_gap", e.posterior_gap);
  result.summary.emplace_back("off_the_heads", e.off_the_heads);
  result.summary.emplace_back("hull_bound", e.hull_bound);
  result.summary.emplace_back("support_along", e.support_along);
  result.summary.emplace_back("support_across", e.support_across);
  result.summary.emplace_back("support_sine", e.support_sine);
  result.summary.emplace_back("tuple_tau", e.tuple_tau);
  result.summary.emplace_back("wrong_tuple_bound", e.rejected.bound);
}

Result run_learn(const Parameters& p, const Context& context) {
  const Examples examples = read_examples(p.text("examples"));
  LearnOptions options;
  options.heads = p.has("heads") ? static_cast<int>(p.integer("heads")) : 0;
  options.polish = !p.flag("no-polish");
  const Learned learned = learn(examples, options, context);
  Result result;
  result.table = phase_table(learned);
  add_summary(learned, result);
  result.reason = learned.reason;
  if (learned.verdict == Verdict::recovered) result.status = ResultStatus::unconverged;
  if (learned.verdict == Verdict::refused) result.status = ResultStatus::refused;
  if (learned.interrupted) result.status = ResultStatus::interrupted;
  result.artifacts.push_back(
      {"certificate.json", certificate_text(certificate_of(learned, examples))});
  if (learned.verdict != Verdict::refused) add_layer(learned.layer, "", result.artifacts);
  if (learned.geometry.heads > 0) add_layer(learned.geometry, "geometry/", result.artifacts);
  return result;
}

Cost learn_cost(const Parameters& p) {
  // Shapes are in the files; of bytes nine parts in ten are labels, eight to an entry.
  const double entries = example_bytes(p.text("examples")) / 9.0;
  constexpr int typical_tokens = 3;
  constexpr int typical_dim = 12;
  Cost cost = learning_cost(entries / (typical_tokens * typical_dim), typical_tokens, typical_dim,
                            p.has("heads") ? static_cast<int>(p.integer("heads")) : 2);
  cost.memory_bytes += 9.0 * entries;
  return cost;
}

}  // namespace

Verb learn_verb() {
  PlainVerb verb;
  verb.family = "mha";
  verb.name = "learn";
  verb.summary = "a multi-head attention layer from examples, in six phases, with a certificate";
  verb.details =
      "Reads X.npy (int8, N x k x d, entries 1 and -1) and Y.npy (float64) of a folder and finds "
      "the "
      "heads of F(X) = sum_i softmax(X theta_i X^T) X w_i. Rows say what is known after each "
      "phase, "
      "from labels alone. The verdict in the summary is certified, recovered (a layer that misses "
      "a "
      "certificate; the reason says which) or refused (why); the exit code is 0 for certified "
      "only. "
      "--out receives theta.npy, w.npy (m x d x d, largest |w| first), geometry/ (the same before "
      "the polish) and certificate.json, which mha verify checks.";
  verb.parameters = {
      make_folder("examples", true, "Folder with X.npy and Y.npy."),
      make_parameter("heads", ParameterKind::integer, {}, 1, max_heads_found,
                     "Number of heads; without it, found from the singular gap."),
      make_parameter("no-polish", ParameterKind::flag, false, 0, 1,
                     "Stop at what the geometry gives, before the least-squares polish.")};
  verb.columns = {
      {"phase", "1 to 6", "", false},
      {"name", "what it did", "", false},
      {"rows", "rows, slabs, tuples or examples that it worked with", "", false},
      {"score", "largest residual over pivot among the best rows: how far heads disagree there", "",
       false},
      {"inflation", "least factor on the slabs' tolerances that leaves a point in all", "", false},
      {"violations", "share of slabs that the base or a head misses by more than 8 tolerances", "",
       false},
      {"gap", "ratio of singular values behind the heads; 3 and more counts", "", false},
      {"residual", "relative residual on held-out examples", "", false}};
  verb.examples = {"mha learn examples --out model", "mha learn examples --heads 3 --no-polish"};
  verb.method = 4;
  verb.cost = learn_cost;
  verb.run = run_learn;
  return to_verb(std::move(verb));
}

}  // namespace onset::mha
