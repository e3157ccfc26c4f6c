#include <algorithm>
#include <cmath>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/numerics/parallel.hpp"
#include "onset/ssi/limits/landscape.hpp"
#include "ssi/verbs/mixture_options.hpp"
#include "ssi/verbs/model_options.hpp"
#include "ssi/verbs/ssi_verbs.hpp"

namespace onset::ssi {
namespace {

std::vector<Column> loss_columns() {
  return {{"e", "positional overlap", "", false},
          {"m", "semantic overlap", "", false},
          {"risk", "population risk", "loss", true},
          {"slope_e", "its derivative in e", "loss", true},
          {"slope_m", "its derivative in m", "loss", true}};
}

/// Without --tol, where the risk is a series; what is sampled has the errors that it has.
constexpr double series_tolerance = 1e-3;

bool is_series(const SequenceModel& model) {
  return model.loss != Loss::frobenius &&
         (model.tokens() <= 3 || model.student.kind != StudentKind::sequence);
}

/// Whether a term of two tokens has kinks, which are then cut at on every line of a plane.
bool couples_kinks(const Link& link) {
  if (link.expression() == nullptr) return false;
  const auto terms = link.expression()->terms();
  return std::any_of(terms.begin(), terms.end(), [](const auto& term) {
    return term.part.switches() > 0 && term.part.used().size() == 2;
  });
}
constexpr double seconds_of_coupled_kinks = 1.5;

struct Place {
  double e;
  double m;
};

/// The points of a square grid that lie in the disk, or the segment e = 0.
std::vector<Place> places(std::int64_t points, bool positional) {
  std::vector<Place> list;
  const auto coordinate = [&](std::int64_t i) {
    return -1.0 + 2.0 * static_cast<double>(i) / static_cast<double>(points - 1);
  };
  for (std::int64_t i = 0; i < points; ++i) {
    if (!positional) {
      list.push_back({0.0, coordinate(i)});
      continue;
    }
    for (std::int64_t j = 0; j < points; ++j) {
      const Place x{coordinate(i), coordinate(j)};
      if (std::hypot(x.e, x.m) <= 1.0 + 1e-12) list.push_back(x);
    }
  }
  return list;
}

void add_minima(const Landscape& landscape, bool positional, const Context& context,
                Result& result) {
  if (!landscape.smooth()) {
    result.notes.push_back(
        "Minima are listed for squared losses of up to three tokens and for tied students only.");
    return;
  }
  const auto [minima, valley] = local_minima(landscape, positional, context);
  if (valley) {
    result.notes.push_back(
        "The risk has a valley (or is flat), to its error: places that are no isolated minima are "
        "not counted.");
  }
  result.summary.emplace_back("minima", static_cast<std::int64_t>(minima.size()));
  for (std::size_t i = 0; i < minima.size(); ++i) {
    const std::string name = "minimum_" + std::to_string(i + 1);
    result.summary.emplace_back(name + "_type", minima[i].type);
    result.summary.emplace_back(name + "_e", minima[i].e);
    result.summary.emplace_back(name + "_m", minima[i].m);
    result.summary.emplace_back(name + "_risk", minima[i].risk);
  }
}

Result run_loss(const Parameters& p, const Context& context) {
  const SequenceModel model = read_model_or_mixture(p);
  Result result;
  result.table = Table(loss_columns());
  keep_rows(result, [&] {
    const auto landscape =
        population_risk(model, static_cast<std::uint64_t>(p.integer("seed")), context);
    const auto list = places(p.integer("points"), model.positional);
    std::size_t done = 0;
    for (const Place& x : list) {
      context.check();
      context.report(static_cast<double>(done++) / static_cast<double>(list.size()), "risk");
      const RiskPoint r = landscape->at(x.e, x.m);
      if (!std::isfinite(r.risk.value)) {
        throw Refused(
            "the risk is not finite: the target or the student has no value somewhere, "
            "or no finite second moment under Gaussian fields");
      }
      result.table.add_row({x.e, x.m, r.risk, r.slope_e, r.slope_m});
    }
    add_minima(*landscape, model.positional, context, result);
  });
  judge_tolerance(p, "risk", "no more digits are at hand", result);
  return result;
}

Cost loss_cost(const Parameters& p) {
  const SequenceModel model = read_model_or_mixture(p);
  const auto points = static_cast<double>(p.integer("points"));
  const double count = model.positional ? points * points : points;
  const bool series = is_series(model);
  Cost cost;
  cost.method = series ? "R = E|g|^2/2 + F(e)/2 - sum_s c_s(e) m^s from Hermite coefficients of "
                         "target and student on a grid; errors: the difference of two rules."
                       : "Scrambled Sobol points, 16 replicates of 1024, at every (e, m).";
  cost.core_seconds = series ? 1.0 + 1e-4 * count : 0.01 * count;
  if (series && couples_kinks(*model.target)) cost.core_seconds += seconds_of_coupled_kinks;
  if (series && couples_kinks(*model.student.link)) cost.core_seconds += seconds_of_coupled_kinks;
  cost.memory_bytes = 200e6 + 400.0 * count;
  return cost;
}

}  // namespace

Verb loss_verb() {
  PlainVerb verb;
  verb.family = "ssi";
  verb.name = "loss";
  verb.summary = "the population risk of a sequence single-index model over its overlaps";
  verb.details =
      "The risk R(e, m) of a student with semantic overlap m (cosine with the teacher) and "
      "positional overlap e (cosine with the positional encoding) on the disk e^2 + m^2 <= 1, with "
      "its gradient and, in the summary, its local minima and their types. A model is a --target "
      "with a --student, or --a and --omega: the positional-semantic model with target "
      "(1-omega) softmax(z z^T) + omega A(a), two tokens, P1 = -P2. The loss is |y-f|^2/2 unless "
      "--loss says otherwise.";
  verb.parameters = model_parameters();
  for (Parameter& parameter : mixture_parameters()) verb.parameters.push_back(std::move(parameter));
  verb.parameters.push_back(loss_parameter(Loss::half_squared));
  verb.parameters.push_back(make_parameter("points", ParameterKind::integer, std::int64_t{41}, 2,
                                           401, "Values of each overlap from -1 to 1."));
  verb.columns = loss_columns();
  verb.primary = "risk";
  verb.default_tol = series_tolerance;
  verb.tol_for = [](const Parameters& p) {
    return is_series(read_model_or_mixture(p)) ? series_tolerance : 0.0;
  };
  verb.examples = {"ssi loss --a 1 --omega 0.67 --points 41",
                   "ssi loss --target 'He2(z1)+He2(z2)' --positional --out landscape",
                   "ssi loss --target H2sum --tokens 8 --student tied --loss squared"};
  verb.method = 4;
  verb.cost = loss_cost;
  verb.run = run_loss;
  return to_verb(std::move(verb));
}

}  // namespace onset::ssi
