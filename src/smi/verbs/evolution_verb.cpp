#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/core/error.hpp"
#include "onset/smi.hpp"
#include "smi/limits/evolution.hpp"
#include "smi/verbs/model_fields.hpp"
#include "smi/verbs/overlap_columns.hpp"

namespace onset::smi {
namespace {

/// Tolerances without --tol, the inner nodes, and the points that the usual tolerance takes.
constexpr double cheap_evolution_tolerance = 2e-2;
constexpr double costly_evolution_tolerance = 5e-2;
constexpr int evolution_nodes = 128;
constexpr double usual_points = 512.0;

struct EvolutionRow {
  double alpha = 0.0;
  int iteration = 0;
  std::vector<Estimate> overlaps;
  std::vector<Estimate> cosines;
  Estimate error_plugin;
  Estimate error_bayes;
};

Columns<EvolutionRow> evolution_columns(const FieldShape& shape) {
  const char* norm = "squared Frobenius norm";
  std::vector<Column> cosines;
  for (std::size_t b = 1; b <= shape.blocks(); ++b) {
    const std::string n = std::to_string(b);
    cosines.push_back({"cos" + n, "cosine of layer " + n + " with the teacher's", ""});
  }
  return Columns<EvolutionRow>()
      .add("alpha", &EvolutionRow::alpha, alpha_meaning)
      .add("iteration", &EvolutionRow::iteration, "number of the iteration; 0 is the start")
      .add_each(overlap_columns(shape), &EvolutionRow::overlaps)
      .add_each(cosines, &EvolutionRow::cosines)
      .add("error_plugin", &EvolutionRow::error_plugin,
           "test error of the label at the estimated weights", norm)
      .add("error_bayes", &EvolutionRow::error_bayes, "test error of the posterior average", norm);
}

struct SettledEvolution {
  NamedModel named;
  EvolutionOptions options;
};

/// One overlap for every layer.
std::vector<double> start_overlaps(const Evolution& request, std::size_t blocks) {
  const auto& given = request.start_overlap;
  const double chance = 1.0 / static_cast<double>(request.dim);
  for (const double overlap : given) {
    if (overlap >= chance) continue;
    throw InvalidArgument(
        "start_overlap",
        fmt::format(
            "{:g} is below the overlap 1/D of random weights, {:g}; allowed: from there to 1",
            overlap, chance));
  }
  if (given.empty()) return std::vector(blocks, chance);
  if (given.size() == 1) return std::vector(blocks, given.front());
  if (given.size() == blocks) return given;
  throw InvalidArgument("start_overlap",
                        fmt::format("{} values given; allowed: 1{}", given.size(),
                                    blocks > 1 ? fmt::format(" or {}", blocks) : std::string()));
}

SettledEvolution settle_evolution(Evolution& request) {
  if (typed_request(request)) {
    throw Refused(prose(R"(
        state evolution in time follows one overlap for every layer or block, and the directions of a
        typed link may mix on the way; allowed: attention and links by name (the fixed points of a
        typed link are those of smi curve))"));
  }
  NamedModel named = settle_model(request);
  if (!request.tol) {
    request.tol = named.is_cheap() ? cheap_evolution_tolerance : costly_evolution_tolerance;
  }
  EvolutionOptions options;
  options.iterations = request.iterations;
  options.start = start_overlaps(request, named.model->shape().blocks());
  options.chance = 1.0 / static_cast<double>(request.dim);
  options.tolerance = *request.tol;
  options.nodes = evolution_nodes;
  options.max_points = named.affordable_points(evolution_nodes);
  options.seed = request.seed;
  return {std::move(named), std::move(options)};
}

void run_evolution(const Evolution& request, const SettledEvolution& settled,
                   const Context& context, Result& result) {
  const SequenceModel& model = *settled.named.model;
  const auto columns = evolution_columns(model.shape());
  result.table = columns.table();
  if (request.weights == Weights::untied) result.notes.emplace_back(untied_note);
  bool met = true;
  for (const double alpha : request.alpha) {
    const EvolvedOverlaps found = evolve(model, alpha, settled.options, context);
    met = met && found.met_tolerance;
    for (const EvolutionPoint& p : found.points) {
      result.table.add_row(columns.cells({.alpha = alpha,
                                          .iteration = p.iteration,
                                          .overlaps = overlap_entries(model.shape(), p.overlap),
                                          .cosines = p.cosine,
                                          .error_plugin = p.error_plugin,
                                          .error_bayes = p.error_bayes}));
    }
  }
  if (!met) {
    result.unconverged("the asked tolerance " + to_text(Value(*request.tol)) + " was not reached");
  }
}

Cost evolution_cost(const Evolution& request, const SettledEvolution& settled) {
  const NamedModel& named = settled.named;
  Cost cost;
  cost.method = prose(R"(
      State evolution is iterated from small overlaps, every replicate on its own: one evaluation
      of the channel per iteration, and a second one along a path that is pushed by the bounds on
      the bias of the inner integrals, where there are any. Overlaps that are too small to be
      measured grow by their growth rates. Quasi-Monte Carlo gives both test errors.)");
  const double paths = named.model->posterior({32, 1})->exact() ? 1.0 : 2.0;
  const double steps = static_cast<double>(request.alpha.size()) * request.iterations;
  const double points =
      std::clamp(usual_points * std::pow(cheap_evolution_tolerance / *request.tol, 1.0 / 0.6),
                 usual_points / 2.0, static_cast<double>(settled.options.max_points));
  // Measured: points are doubled at some iterations, and a test error of attention takes longer.
  constexpr double of_doublings = 1.7, per_link_error = 2e-3, per_attention_error = 0.05;
  const double per_error = request.link == "none" ? per_attention_error : per_link_error;
  cost.core_seconds = of_doublings * named.channel_seconds(paths * steps, points, evolution_nodes) +
                      per_error * steps;
  cost.memory_bytes = named.memory(evolution_nodes);
  return cost;
}

}  // namespace

VerbOf<Evolution> Evolution::verb() {
  Definition<Evolution, SettledEvolution> d;
  d.family = "smi";
  d.name = "evolution";
  d.summary = "state evolution in time: overlaps after every iteration of message passing";
  d.details = prose(R"(
      State evolution of the Bayes-optimal setting says what message passing (smi amp) knows after
      every iteration in the limit of large dimension, at the sample ratio alpha = N/D (samples over
      dimension): the overlap of each layer with the truth, their cosine, and both test errors. It
      starts from the overlap 1/D that random weights have in dimension D, or from a given one;
      smi curve has where it ends. The tolerance is for every overlap at every iteration.)");
  d.fields = model_fields<Evolution>();
  d.fields.add("alpha", &Evolution::alpha, alpha_rule, alpha_text)
      .add("iterations", &Evolution::iterations, {.min = 1, .max = 1e5},
           "Number of iterations that are followed.")
      .add("dim", &Evolution::dim, {.min = 2, .max = 1e12}, prose(R"(
          Dimension D: overlaps start at the 1/D of random weights and do not fall below it, as chance
          keeps those of message passing from doing.)"))
      .add("start-overlap", &Evolution::start_overlap, {.min = 1e-12, .max = 0.999999}, prose(R"(
          Overlaps at the start, one for all layers or one each; 1/D unless given.)"));
  d.rows = {{"", evolution_columns({2, {1, 1}}).list()}};
  d.primary = "Q11";
  d.usual_tolerance = "2e-2, or 5e-2 beyond two layers of two tokens,";
  d.examples = {"smi evolution --alpha 1.2 --iterations 40",
                "smi evolution --layers 1 --alpha 0.4 --start-overlap 0.05 --iterations 20"};
  d.settle = settle_evolution;
  d.cost = evolution_cost;
  d.run = run_evolution;
  return d.verb();
}

}  // namespace onset::smi
