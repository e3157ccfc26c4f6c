#include <optional>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "mha/model/canonical.hpp"
#include "mha/model/function_error.hpp"
#include "mha/verbs/array_files.hpp"
#include "mha/verbs/certificate_file.hpp"
#include "mha/verbs/folder_fields.hpp"
#include "onset/mha.hpp"

namespace onset::mha {
namespace {

struct EvaluateRow {
  int heads_found = 0;
  std::optional<Estimate> geometry_theta = {};
  std::optional<Estimate> geometry_w = {};
  std::optional<Estimate> theta = {};
  std::optional<Estimate> w = {};
  std::optional<Estimate> function = {};
  std::string verdict;
};

Columns<EvaluateRow> evaluate_columns() {
  return Columns<EvaluateRow>()
      .add("heads_found", &EvaluateRow::heads_found, "heads of the model; 0 when it was refused")
      .add("geometry_theta", &EvaluateRow::geometry_theta, "error of theta before the polish")
      .add("geometry_w", &EvaluateRow::geometry_w, "error of w before the polish")
      .add("theta", &EvaluateRow::theta, "error of theta")
      .add("w", &EvaluateRow::w, "error of w")
      .add("function", &EvaluateRow::function, "relative error of the outputs on fresh examples")
      .add("verdict", &EvaluateRow::verdict, "of the learner: certified, recovered or refused");
}

struct SettledEvaluate {
  int tokens = 0;
  Layer truth;
  Certificate certificate;
  Layer geometry;  // empty where the model was refused, as the next
  Layer found;
};

SettledEvaluate settle_evaluate(Evaluate& request) {
  const std::filesystem::path model = request.model;
  Certificate certificate = read_certificate(model);
  const ExampleFiles examples = find_examples(request.examples, certificate.inputs);
  SettledEvaluate out{
      examples.tokens, canonical(read_layer(request.truth), 0.0), std::move(certificate), {}, {}};
  if (out.truth.dim != examples.dim) {
    throw IoError(request.truth, "has another dimension than the examples");
  }
  if (out.certificate.verdict == Verdict::refused) return out;
  out.geometry = read_layer(model / "geometry");
  out.found = read_layer(model);
  if (out.found.dim != out.truth.dim) {
    throw IoError(request.model, "has another dimension than the truth");
  }
  return out;
}

void run_evaluate(const Evaluate& request, const SettledEvaluate& settled, const Context& context,
                  Result& result) {
  const auto columns = evaluate_columns();
  EvaluateRow row{.heads_found = settled.found.heads,
                  .verdict = to_string(settled.certificate.verdict)};
  if (settled.certificate.verdict == Verdict::refused) {
    result.table.add_row(columns.cells(row));
    throw Refused("the model was refused: " + settled.certificate.reason);
  }
  // Errors of 0: exact to rounding.
  if (const auto errors = parameter_errors(settled.geometry, settled.truth)) {
    if (errors->theta) row.geometry_theta = Estimate{*errors->theta, 0.0};
    row.geometry_w = Estimate{errors->w, 0.0};
  }
  if (const auto errors = parameter_errors(settled.found, settled.truth)) {
    if (errors->theta) row.theta = Estimate{*errors->theta, 0.0};
    row.w = Estimate{errors->w, 0.0};
    if (!errors->theta) {
      result.notes.push_back(prose(R"(
          A head of the truth has theta = 0, and relative to it there is no error: geometry_theta
          and theta are left empty. The norm of theta that stands for it is {:.2g}.)",
                                   errors->at_zero));
    }
  }
  row.function = function_error(settled.found, settled.truth, settled.tokens,
                                settled.certificate.inputs, request.seed, context);
  result.table.add_row(columns.cells(row));
}

Cost evaluate_cost(const Evaluate&, const SettledEvaluate&) {
  return {"Every permutation of the heads, and both layers on 4096 fresh examples.", 1.0, 1e8};
}

}  // namespace

VerbOf<Evaluate> Evaluate::verb() {
  Definition<Evaluate, SettledEvaluate> d;
  d.family = "mha";
  d.name = "evaluate";
  d.summary = "compares a learned layer with the truth";
  d.details = prose(R"(
      Gives relative errors |found - true| / |true| in Frobenius norm, the largest over heads
      after the permutation that makes the largest error of theta smallest; they are empty when
      the numbers of heads differ or the model was refused, and those of theta also when a true
      theta is 0. The geometry is the layer before the
      polish. What is compared entry by entry is exact to rounding; the error of the function is
      a mean over fresh examples, with the scatter of 16 batches.)");
  d.fields = model_fields<Evaluate>();
  d.fields.add("truth", &Evaluate::truth, {.required = true, .folder = true},
               "Folder with the true theta.npy and w.npy.");
  d.rows = {{"", evaluate_columns().list()}};
  d.primary = "function";
  d.examples = {"mha evaluate examples --model model --truth examples/truth"};
  d.method = 2;
  d.settle = settle_evaluate;
  d.cost = evaluate_cost;
  d.run = run_evaluate;
  return d.verb();
}

}  // namespace onset::mha
