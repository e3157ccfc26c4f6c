#include <algorithm>
#include <cmath>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "mha/model/conditions.hpp"
#include "mha/model/visibility.hpp"
#include "mha/verbs/array_files.hpp"
#include "onset/mha.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::mha {
namespace {

/// Draws of inputs over which the predicted number of examples is averaged.
constexpr std::uint64_t draws = 4;

Columns<Condition> condition_columns() {
  return Columns<Condition>()
      .add("condition", &Condition::name, "what is asked of the layer")
      .add("value", &Condition::value, "what it comes to")
      .add("bound", &Condition::bound, "what the phases hold it against; empty: a matter of degree")
      .add("holds", &Condition::holds, "whether it holds");
}

Layer settle_inspect(Inspect& request) {
  return read_layer(request.layer);
}

/// The names of the conditions that do not hold, for a message; empty if all do.
std::string broken(const std::vector<Condition>& conditions) {
  std::string names;
  for (const Condition& condition : conditions) {
    if (condition.holds == false) names += (names.empty() ? "" : ", ") + condition.name;
  }
  return names;
}

void predict(const Inspect& request, const Layer& layer, const Context& context, Result& result) {
  std::vector<double> counts;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    context.report(0.2 + 0.2 * static_cast<double>(draw), "examples that show the heads");
    const ExamplesNeeded need =
        examples_needed(layer, request.tokens, request.inputs, request.seed + draw, context);
    if (need.examples) {
      counts.push_back(*need.examples);
      continue;
    }
    result.summary.emplace_back("gap", need.gap);
    throw Refused(need.exhausted ? prose(R"(
        no number of examples shows the heads: all inputs that there are leave an oracle's gap of
        {:.2g}, {:.2g} wanted; a larger dimension or more tokens would help)",
                                         need.gap, telling_gap)
                                 : prose(R"(
        {} examples do not show the heads: they leave an oracle's gap of {:.2g}, {:.2g} wanted)",
                                         need.tried, need.gap, telling_gap));
  }
  result.summary.emplace_back("examples", numerics::mean_over_runs(counts));
}

void run_inspect(const Inspect& request, const Layer& layer, const Context& context,
                 Result& result) {
  context.report(0.0, "conditions");
  const auto conditions =
      conditions_of(layer, request.tokens, request.inputs, request.seed, context);
  result.table = condition_columns().table(conditions);
  const std::string names = broken(conditions);
  if (!names.empty()) throw Refused("the layer is degenerate; what does not hold: " + names);
  if (layer.heads == 1) {
    result.notes.emplace_back(
        "One head agrees with itself in every row: the examples that determine its unknowns are "
        "enough.");
    return;
  }
  predict(request, layer, context, result);
}

Cost inspect_cost(const Inspect& request, const Layer& layer) {
  // Mostly singular values of 8 d^2 slabs, about ten times for each draw, and rows in between.
  const double unknowns = std::pow(layer.dim, 2.0) + 1.0;
  const double decomposition = 3e-10 * 8.0 * std::pow(unknowns, 3.0);
  const double rows = 1e-9 * 3e4 * request.tokens * layer.heads * unknowns;
  Cost cost;
  cost.method = prose(R"(
      Conditions from the matrices and 2048 random inputs. The number of examples from the rows
      on which the heads themselves agree best, doubled until their slabs show the heads; mean
      over four draws of inputs.)");
  cost.core_seconds = static_cast<double>(draws) * (10.0 * decomposition + rows);
  cost.memory_bytes = 2e8 + 64.0 * unknowns * unknowns;
  return cost;
}

}  // namespace

VerbOf<Inspect> Inspect::verb() {
  Definition<Inspect, Layer> d;
  d.family = "mha";
  d.name = "inspect";
  d.summary = "how far a layer is from degenerate, and how many examples would show its heads";
  d.details = prose(R"(
      Reads theta.npy and w.npy of a layer that is known, say the truth behind examples or what
      mha learn found, and holds it against everything that the theorem and the phases ask for.
      The summary has the number of random examples at which the phases should see the heads: it
      is found from the rows on which the heads agree best, as if the sum of the projections
      were known, with a margin for finding it.)");
  d.fields
      .add("layer", &Inspect::layer, {.required = true, .operand = true, .folder = true},
           "Folder with theta.npy and w.npy.")
      .add("tokens", &Inspect::tokens, {.min = 1, .max = 32}, "Tokens k of an example.")
      .add_word("inputs", &Inspect::inputs, {Inputs::boolean, Inputs::gaussian},
                "Entries of the tokens: 1 and -1, or standard normal.");
  d.rows = {{"", condition_columns().list()}};
  d.primary = "value";
  d.examples = {"mha inspect examples/truth --tokens 3"};
  d.method = 1;
  d.settle = settle_inspect;
  d.cost = inspect_cost;
  d.run = run_inspect;
  return d.verb();
}

}  // namespace onset::mha
