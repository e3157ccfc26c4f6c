#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/definition.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/core/error.hpp"
#include "onset/smi.hpp"
#include "smi/limits/potential.hpp"
#include "smi/limits/typed/label_law.hpp"
#include "smi/verbs/model_fields.hpp"
#include "smi/verbs/overlap_columns.hpp"

namespace onset::smi {
namespace {

constexpr double inner_nodes = 128;
constexpr std::size_t first_points = 1024;

/// Largest number of overlaps that a run evaluates.
constexpr double max_overlaps = 10'000;

struct PotentialRow {
  double alpha = 0.0;
  std::vector<double> overlaps;
  Estimate free_entropy;
  std::string maximum;
};

Columns<PotentialRow> potential_columns(const FieldShape& shape) {
  return Columns<PotentialRow>()
      .add("alpha", &PotentialRow::alpha, alpha_meaning)
      .add_each(overlap_columns(shape), &PotentialRow::overlaps)
      .add("free_entropy", &PotentialRow::free_entropy, "free entropy per dimension", "nat")
      .add("maximum", &PotentialRow::maximum, prose(R"(
               global (of all combinations of overlaps), largest (of this path, which leaves most of
               them out), local (another maximum, which a dip beyond its errors parts from larger
               ones), edge (a maximum of the table at the last value of an overlap: the free entropy
               may rise beyond), unresolved (one of several values of which errors do not
               tell which is the largest), or no)"));
}

/// Whether the points are all combinations of overlaps, so that the largest is the global maximum:
/// a path through them need not meet it.
bool sees_all(const Potential& request, const FieldShape& shape) {
  return shape.blocks() == 1 || request.path == OverlapPath::grid;
}

/// Whether an overlap has the last of its values, beyond which the free entropy is not known.
bool is_at_edge(const OverlapGrid& grid, const PotentialPoint& point) {
  for (std::size_t b = 0; b < grid.values.size(); ++b) {
    if (grid.values[b].size() > 1 && point.overlap[b] == grid.values[b].back()) return true;
  }
  return false;
}

std::string word_of(Maximum maximum, const char* largest) {
  switch (maximum) {
    case Maximum::none: return "no";
    case Maximum::local: return "local";
    case Maximum::global: return largest;
    case Maximum::unresolved: return "unresolved";
  }
  return "";
}

PotentialRow row_of(const FieldShape& shape, double alpha, const PotentialPoint& point,
                    const std::string& word) {
  return {.alpha = alpha,
          .overlaps = overlap_entries(shape, point.overlap),
          .free_entropy = point.free_entropy,
          .maximum = word};
}

std::vector<double> even_overlaps(int count) {
  std::vector<double> values;
  for (int k = 0; k < count; ++k) {
    values.push_back(static_cast<double>(k) / static_cast<double>(count));
  }
  return values;
}

/// What may be said of the grid with the path asked for.
void check_path(const Potential& request, std::size_t blocks) {
  if (request.path != OverlapPath::one) {
    const bool layer_given = request.layer != 1;
    if (!layer_given && request.at == std::vector<double>{0.0}) return;
    throw InvalidArgument(layer_given ? "layer" : "at",
                          "has no effect with `path = " + std::string(to_string(request.path)) +
                              "`; allowed: with `path = one`");
  }
  if (static_cast<std::size_t>(request.layer) > blocks) {
    throw InvalidArgument("layer", std::to_string(request.layer) +
                                       " is not a layer; allowed: 1 to " + std::to_string(blocks));
  }
  if (request.at.size() != 1 && request.at.size() != blocks) {
    throw InvalidArgument("at", std::to_string(request.at.size()) +
                                    " values given; allowed: 1 or " + std::to_string(blocks));
  }
}

OverlapGrid overlap_grid(const Potential& request, std::size_t blocks) {
  check_path(request, blocks);
  OverlapGrid grid{std::vector<std::vector<double>>(blocks, even_overlaps(request.points)),
                   request.path == OverlapPath::all};
  if (request.path == OverlapPath::one) {
    for (std::size_t b = 0; b < blocks; ++b) {
      if (b + 1 == static_cast<std::size_t>(request.layer)) continue;
      grid.values[b] = {request.at.size() == 1 ? request.at.front() : request.at[b]};
    }
  }
  double count = 1.0;
  for (const auto& values : grid.values) count *= static_cast<double>(values.size());
  if (!grid.together && count > max_overlaps) {
    throw InvalidArgument("points", "makes " + to_text(Value(count)) +
                                        " combinations of overlaps; allowed: 10000 in all");
  }
  return grid;
}

/// Where exact recovery becomes the optimum, by counting [smi 21]; infinite when it never does.
double perfect_alpha(const SequenceModel& model) {
  double directions = 0.0;
  for (const int rank : model.shape().rank) directions += rank;
  return model.constraints() > 0.0 ? directions / model.constraints()
                                   : std::numeric_limits<double>::infinity();
}

struct SettledPotential {
  NamedModel named;
  OverlapGrid grid;
  std::size_t max_points = 0;
};

SettledPotential settle_potential(Potential& request) {
  NamedModel named = settle_model(request);
  OverlapGrid grid = overlap_grid(request, named.model->shape().blocks());
  const std::size_t max_points = named.affordable_points(inner_nodes);
  return {std::move(named), std::move(grid), max_points};
}

/// Fills the table at one number of integration points, and returns the largest error in it.
double fill_table(const Potential& request, const SettledPotential& settled,
                  const ChannelOptions& options, const Context& context, Result& result) {
  const SequenceModel& model = *settled.named.model;
  const auto columns = potential_columns(model.shape());
  const double perfect = perfect_alpha(model);
  const Channel channel(model, options);
  auto all = potential(channel, settled.grid, request.alpha, context);
  const char* largest = sees_all(request, model.shape()) ? "global" : "largest";
  double worst = 0.0;
  std::vector<PotentialRow> rows;
  for (std::size_t a = 0; a < request.alpha.size(); ++a) {
    const double alpha = request.alpha[a];
    for (PotentialPoint& point : all[a]) {
      worst = std::max(worst, point.free_entropy.error);
      // Exact recovery beats them all.
      if (point.maximum == Maximum::global && alpha > perfect) point.maximum = Maximum::local;
      const bool may_rise = point.maximum != Maximum::none && is_at_edge(settled.grid, point);
      rows.push_back(
          row_of(model.shape(), alpha, point, may_rise ? "edge" : word_of(point.maximum, largest)));
    }
  }
  result.table = columns.table(rows);
  return worst;
}

void run_potential(const Potential& request, const SettledPotential& settled,
                   const Context& context, Result& result) {
  ChannelOptions options;
  options.points = first_points;
  options.nodes = static_cast<int>(inner_nodes);
  options.seed = request.seed;
  const SequenceModel& model = *settled.named.model;
  result.table = potential_columns(model.shape()).table();
  if (settled.named.typed) {
    note_what_is_not_named(*settled.named.typed, result);
    options.label_law = label_log_density(*settled.named.typed, request.seed, context);
  }
  if (request.weights == Weights::untied) result.notes.emplace_back(untied_note);
  if (!sees_all(request, model.shape())) {
    result.notes.emplace_back(prose(R"(
        The largest value is that of a path through the overlaps; the global maximum is among all
        combinations, `path = grid`.)"));
  }
  const double perfect = perfect_alpha(model);
  if (*std::max_element(request.alpha.begin(), request.alpha.end()) > perfect) {
    result.notes.push_back(prose(R"(
        Above alpha = {} the free entropy grows without bound towards exact recovery (Q = 1), which
        is the global maximum; the maxima in the table are local ones.)",
                                 to_text(Value(perfect))));
  }
  for (;;) {
    const double worst = fill_table(request, settled, options, context, result);
    if (worst <= request.tol) return;
    if (2 * options.points > settled.max_points) {
      result.unconverged("the asked tolerance " + to_text(Value(request.tol)) + " was not reached");
      return;
    }
    const double factor = std::clamp(std::pow(worst / request.tol, 2.0), 2.0, 16.0);
    options.points *= std::size_t{1} << std::lround(std::ceil(std::log2(factor)));
    options.points = std::min(options.points, settled.max_points);
  }
}

Cost potential_cost(const Potential& request, const SettledPotential& settled) {
  const auto& [named, grid, max_points] = settled;
  double overlaps = 1.0;
  for (const auto& values : grid.values) overlaps *= static_cast<double>(values.size());
  if (grid.together) overlaps = static_cast<double>(grid.values.front().size());
  const double points = std::min(
      static_cast<double>(max_points),
      static_cast<double>(first_points) * std::max(1.0, std::pow(5e-3 / request.tol, 2.0)));
  // Typed links have a second posterior, where nothing is known.
  const double posteriors = named.typed ? 2.0 : 1.0;
  return {prose(R"(
      Psi(Q) = E log Z_out by quasi-Monte Carlo at every choice of overlaps, once for all sample
      ratios; the prior's part in closed form. The same integration points everywhere, so that
      differences between close overlaps are better than the stated errors.)"),
          named.channel_seconds(posteriors * overlaps, points, inner_nodes),
          named.memory(inner_nodes)};
}

}  // namespace

std::string_view to_string(OverlapPath path) {
  switch (path) {
    case OverlapPath::all: return "all";
    case OverlapPath::one: return "one";
    case OverlapPath::grid: return "grid";
  }
  return "";
}

VerbOf<Potential> Potential::verb() {
  Definition<Potential, SettledPotential> d;
  d.family = "smi";
  d.name = "potential";
  d.summary = "the free entropy against the overlaps, and its maximisers";
  d.details = prose(R"(
      Gives the free entropy Phi(Q) at sample ratio alpha = N/D (samples over dimension) along a
      path of overlaps or on a grid of them. Its global maximum is the Bayes-optimal overlap;
      where uninformed algorithms are stopped by a local maximum before it, there is a hard
      phase.)");
  d.fields = model_fields<Potential>();
  d.fields.add("alpha", &Potential::alpha, alpha_rule, alpha_text)
      .add_word("path", &Potential::path, {OverlapPath::all, OverlapPath::one, OverlapPath::grid},
                prose(R"(
          all: every overlap is the same; one: that of `layer` varies and the others are `at`;
          grid: all combinations.)"))
      .add("points", &Potential::points, {.min = 2, .max = 1000},
           "Values 0, 1/n, .., 1 - 1/n of an overlap.")
      .add("layer", &Potential::layer, {.min = 1, .max = max_layers},
           "Layer whose overlap varies with `path = one`.")
      .add("at", &Potential::at, {.min = 0.0, .max = 0.999999},
           "Overlaps of the other layers with `path = one`: one for all, or one per layer.");
  d.rows = {{"", potential_columns({2, {1, 1}}).list()}};
  d.primary = "free_entropy";
  d.examples = {"smi potential --link square --alpha 0.6,1,1.1 --points 40",
                "smi potential --layers 2 --alpha 0.9 --path grid --points 8"};
  d.method = 9;
  d.settle = settle_potential;
  d.cost = potential_cost;
  d.run = run_potential;
  return d.verb();
}

}  // namespace onset::smi
