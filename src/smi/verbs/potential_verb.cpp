#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/smi/limits/potential.hpp"
#include "smi/verbs/named_model.hpp"
#include "smi/verbs/overlap_columns.hpp"
#include "smi/verbs/smi_verbs.hpp"

namespace onset::smi {
namespace {

constexpr double default_tolerance = 1e-2;
constexpr double inner_nodes = 128;
constexpr std::size_t first_points = 1024;

/// Largest number of overlaps that a run evaluates.
constexpr double most_overlaps = 10'000;

std::vector<Column> potential_columns(const FieldShape& shape) {
  std::vector<Column> columns{{"alpha", alpha_meaning, "", false}};
  for (Column& column : overlap_columns(shape)) {
    column.estimate = false;
    columns.push_back(std::move(column));
  }
  columns.push_back({"free_entropy", "free entropy per dimension", "nat", true});
  columns.push_back(
      {"maximum", "global, local (a maximum among its neighbours in the table), or no", "", false});
  return columns;
}

std::vector<double> even_overlaps(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t k = 0; k < count; ++k) {
    values.push_back(static_cast<double>(k) / static_cast<double>(count));
  }
  return values;
}

OverlapGrid read_grid(const Parameters& p, std::size_t blocks) {
  const std::vector<double> even = even_overlaps(p.integer("points"));
  const std::string& path = p.text("path");
  OverlapGrid grid{std::vector<std::vector<double>>(blocks, even), path == "all"};
  const auto layer = static_cast<std::size_t>(p.integer("layer"));
  if (path != "one") {
    const bool layer_given = layer != 1;
    if (layer_given || p.reals("at") != std::vector<double>{0.0}) {
      throw InvalidArgument(layer_given ? "--layer" : "--at",
                            "says nothing with --path " + path + "; allowed: with --path one");
    }
  } else {
    if (layer > blocks) {
      throw InvalidArgument("--layer", std::to_string(layer) + " is not a layer; allowed: 1 to " +
                                           std::to_string(blocks));
    }
    const std::vector<double>& at = p.reals("at");
    if (at.size() != 1 && at.size() != blocks) {
      throw InvalidArgument("--at", std::to_string(at.size()) + " values given; allowed: 1 or " +
                                        std::to_string(blocks));
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      if (b + 1 != layer) grid.values[b] = {at.size() == 1 ? at.front() : at[b]};
    }
  }
  double count = 1.0;
  for (const auto& values : grid.values) count *= static_cast<double>(values.size());
  if (!grid.together && count > most_overlaps) {
    throw InvalidArgument("--points", "makes " + to_text(Value(count)) +
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

std::vector<Cell> potential_row(const FieldShape& shape, double alpha,
                                const PotentialPoint& point) {
  std::vector<Cell> row{alpha};
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    for (int p = 1; p <= shape.rank[b]; ++p) {
      for (int q = p; q <= shape.rank[b]; ++q) {
        row.emplace_back(p == q ? point.overlap[b] : 0.0);
      }
    }
  }
  row.emplace_back(point.free_entropy);
  row.emplace_back(std::string(point.maximum == Maximum::global  ? "global"
                               : point.maximum == Maximum::local ? "local"
                                                                 : "no"));
  return row;
}

Result run_potential(const Parameters& p, const Context& context) {
  const NamedModel named = read_model(p);
  const FieldShape& shape = named.model->shape();
  const OverlapGrid grid = read_grid(p, shape.blocks());
  const std::vector<double>& alphas = p.reals("alpha");
  const double tolerance = p.real("tol");
  ChannelOptions options;
  options.points = first_points;
  options.nodes = static_cast<int>(inner_nodes);
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  Result result;
  result.table = Table(potential_columns(shape));
  const double perfect = perfect_alpha(*named.model);
  if (*std::max_element(alphas.begin(), alphas.end()) > perfect) {
    result.notes.push_back("Above alpha = " + to_text(Value(perfect)) +
                           " the free entropy grows without bound towards exact recovery (Q = 1), "
                           "which is the global maximum; what the table has are local ones.");
  }
  for (;;) {
    std::vector<std::vector<PotentialPoint>> all;
    keep_rows(result, [&] {
      const Channel channel(*named.model, options);
      all = potential(channel, grid, alphas, context);
    });
    if (result.status != ResultStatus::ok) return result;
    double worst = 0.0;
    result.table = Table(potential_columns(shape));
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      for (PotentialPoint& point : all[a]) {
        worst = std::max(worst, point.free_entropy.error);
        const bool beaten = point.maximum == Maximum::global && alphas[a] > perfect;
        if (beaten) point.maximum = Maximum::local;
        result.table.add_row(potential_row(shape, alphas[a], point));
      }
    }
    if (worst <= tolerance) return result;
    if (2 * options.points > named.affordable_points(inner_nodes)) {
      result.status = ResultStatus::unconverged;
      result.reason = "the asked tolerance " + to_text(Value(tolerance)) + " was not reached";
      return result;
    }
    const double factor = std::clamp(std::pow(worst / tolerance, 2.0), 2.0, 16.0);
    options.points *= std::size_t{1} << std::lround(std::ceil(std::log2(factor)));
    options.points = std::min(options.points, named.affordable_points(inner_nodes));
  }
}

Cost potential_cost(const Parameters& p) {
  const NamedModel named = read_model(p);
  const OverlapGrid grid = read_grid(p, named.model->shape().blocks());
  double overlaps = 1.0;
  for (const auto& values : grid.values) overlaps *= static_cast<double>(values.size());
  if (grid.together) overlaps = static_cast<double>(grid.values.front().size());
  const double points = std::min(
      static_cast<double>(named.affordable_points(inner_nodes)),
      static_cast<double>(first_points) * std::max(1.0, std::pow(5e-3 / p.real("tol"), 2.0)));
  return {
      "Psi(Q) = E log Z_out by quasi-Monte Carlo at every choice of overlaps, once for all sample "
      "ratios; the prior's part in closed form. The same integration points everywhere, so that "
      "differences along the path are better than the stated errors.",
      named.channel_seconds(overlaps, points, inner_nodes), named.memory(inner_nodes)};
}

}  // namespace

Verb potential_verb() {
  PlainVerb verb;
  verb.family = "smi";
  verb.name = "potential";
  verb.summary = "the free entropy against the overlaps, and its maximisers";
  verb.details =
      "Phi(Q) at sample ratio alpha = N/D (samples over dimension) along a path of overlaps or on "
      "a "
      "grid of them. Its global maximum is the Bayes-optimal overlap; a local maximum that "
      "uninformed "
      "algorithms reach first makes the phase between hard.";
  verb.parameters = model_parameters();
  verb.read_files = read_correlation_file;
  verb.parameters.push_back(alpha_parameter());
  verb.parameters.push_back(
      make_word("path", {"all", "one", "grid"},
                "all: every overlap the same; one: that of --layer, the others --at; grid: all "
                "combinations."));
  verb.parameters.push_back(make_parameter("points", ParameterKind::integer, std::int64_t{20}, 2,
                                           1000, "Values 0, 1/n, .., 1 - 1/n of an overlap."));
  verb.parameters.push_back(make_parameter("layer", ParameterKind::integer, std::int64_t{1}, 1,
                                           max_layers,
                                           "Layer whose overlap varies with --path one."));
  verb.parameters.push_back(make_parameter(
      "at", ParameterKind::reals, std::vector<double>{0.0}, 0.0, 0.999999,
      "Overlaps of the other layers with --path one: one for all, or one per layer."));
  verb.columns = potential_columns({2, {1, 1}});
  verb.primary = "free_entropy";
  verb.default_tol = default_tolerance;
  verb.examples = {"smi potential --link square --alpha 0.6,1,1.1 --points 40",
                   "smi potential --layers 2 --alpha 0.9 --path grid --points 8"};
  verb.cost = potential_cost;
  verb.run = run_potential;
  return to_verb(std::move(verb));
}

}  // namespace onset::smi
