#include <algorithm>
#include <cmath>
#include <optional>

#include "core/plain_verb.hpp"
#include "mha/model/canonical.hpp"
#include "mha/model/instance.hpp"
#include "mha/verbs/files.hpp"
#include "mha/verbs/mha_verbs.hpp"
#include "mha/verbs/options.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t fresh_examples = 256;  // per replicate

/// |F_found - F| / |F| on fresh examples, with the scatter of independent batches.
Estimate function_error(const Layer& found, const Layer& truth, int tokens, std::uint64_t seed,
                        const Context& context) {
  InstanceLaw law;
  law.heads = truth.heads;
  law.dim = truth.dim;
  law.tokens = tokens;
  const auto count = static_cast<std::size_t>(numerics::default_replicates) * fresh_examples;
  const Examples fresh = draw_examples(law, truth, count, seed, "mha fresh", context);
  const std::vector<double> outputs = forward(found, fresh.x, tokens, context);
  double unit = 0.0;  // squares of labels may leave the range of doubles
  for (const double y : fresh.y) unit = std::max(unit, std::abs(y));
  std::vector<double> errors;
  const std::size_t batch = fresh_examples * fresh.width();
  for (std::size_t first = 0; first < outputs.size(); first += batch) {
    double off = 0.0;
    double total = 0.0;
    for (std::size_t e = first; e < first + batch; ++e) {
      const double wanted = fresh.y[e] / unit;
      const double difference = (outputs[e] - fresh.y[e]) / unit;
      off += difference * difference;
      total += wanted * wanted;
    }
    errors.push_back(std::sqrt(off / total));
  }
  return numerics::reduce(errors);
}

Cell exact(double value) {
  return Estimate{value, 0.0};
}

Result run_evaluate(const Parameters& p, const Context& context) {
  const Examples examples = read_examples(p.text("examples"));
  const Layer truth = canonical(read_layer(p.text("truth")), 0.0);
  if (truth.dim != examples.dim) {
    throw IoError(p.text("truth"), "has another dimension than the examples");
  }
  const std::filesystem::path model = p.text("model");
  const Certificate certificate = read_certificate(model);
  std::vector<Cell> row(7);
  row[0] = std::int64_t{0};
  row[6] = to_string(certificate.verdict);
  if (certificate.verdict != Verdict::refused) {
    const Layer found = read_layer(model);
    if (found.dim != truth.dim) {
      throw IoError(model.string(), "has another dimension than the truth");
    }
    row[0] = std::int64_t{found.heads};
    if (const auto errors = parameter_errors(read_layer(model / "geometry"), truth)) {
      row[1] = exact(errors->theta);
      row[2] = exact(errors->w);
    }
    if (const auto errors = parameter_errors(found, truth)) {
      row[3] = exact(errors->theta);
      row[4] = exact(errors->w);
    }
    row[5] = function_error(found, truth, examples.tokens,
                            static_cast<std::uint64_t>(p.integer("seed")), context);
  }
  Result result;
  result.table = Table(evaluate_verb().columns());
  result.table.add_row(std::move(row));
  if (certificate.verdict == Verdict::refused) {
    result.status = ResultStatus::refused;
    result.reason = "the model was refused: " + certificate.reason;
  }
  return result;
}

Cost evaluate_cost(const Parameters& p) {
  const double bytes = example_bytes(p.text("examples"));
  return {"Every permutation of the heads, and both layers on 4096 fresh examples.", 1.0,
          2.0 * bytes + 1e8};
}

}  // namespace

Verb evaluate_verb() {
  PlainVerb verb;
  verb.family = "mha";
  verb.name = "evaluate";
  verb.summary = "compares a learned layer with the truth";
  verb.details =
      "Relative errors |found - true| / |true| in Frobenius norm, the largest over heads after the "
      "permutation that makes the largest theta error smallest; empty when the numbers of heads "
      "differ or the model was refused. Geometry is the layer before the polish.";
  verb.parameters = {make_folder("examples", true, "Folder with X.npy and Y.npy."),
                     make_folder("model", false, "Folder that mha learn wrote."),
                     make_folder("truth", false, "Folder with the true theta.npy and w.npy.")};
  verb.columns = {{"heads_found", "heads of the model; 0 when it was refused", "", false},
                  {"geometry_theta", "error of theta before the polish", "", true},
                  {"geometry_w", "error of w before the polish", "", true},
                  {"theta", "error of theta", "", true},
                  {"w", "error of w", "", true},
                  {"function", "relative error of the outputs on fresh examples", "", true},
                  {"verdict", "of the learner: certified, recovered or refused", "", false}};
  verb.primary = "function";
  verb.examples = {"mha evaluate examples --model model --truth examples/truth"};
  verb.cost = evaluate_cost;
  verb.run = run_evaluate;
  return to_verb(std::move(verb));
}

}  // namespace onset::mha
