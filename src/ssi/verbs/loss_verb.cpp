#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/ssi.hpp"
#include "onset/ssi/limits/landscape.hpp"
#include "ssi/limits/flow/many_overlaps.hpp"
#include "ssi/model/parity.hpp"
#include "ssi/verbs/model_fields.hpp"

namespace onset::ssi {
namespace {

struct LossRow {
  double e = 0.0;
  double m = 0.0;
  Estimate risk = {};
  std::optional<Estimate> slope_e = {};  ///< nothing where there is none
  std::optional<Estimate> slope_m = {};
};

Columns<LossRow> loss_columns() {
  return Columns<LossRow>()
      .add("e", &LossRow::e, "positional overlap")
      .add("m", &LossRow::m, "semantic overlap")
      .add("risk", &LossRow::risk, "population risk", "loss")
      .add("slope_e", &LossRow::slope_e, "its derivative in e; empty where there is none", "loss")
      .add("slope_m", &LossRow::slope_m, "its derivative in m; empty where there is none", "loss");
}

struct ManyLossRow {
  OverlapList overlaps;
  Estimate risk = {};
  std::vector<std::optional<Estimate>> slopes = {};
};

Columns<ManyLossRow> many_loss_columns(std::size_t directions) {
  std::vector<Column> overlaps;
  std::vector<Column> slopes;
  for (std::size_t k = 1; k <= directions; ++k) {
    overlaps.push_back(
        {fmt::format("e{}", k), fmt::format("overlap with direction {}", k), "", false});
    slopes.push_back({fmt::format("slope_e{}", k),
                      fmt::format("its derivative in e{}; empty where there is none", k), "loss",
                      true});
  }
  overlaps.push_back({"m", "semantic overlap", "", false});
  slopes.push_back({"slope_m", "its derivative in m; empty where there is none", "loss", true});
  return Columns<ManyLossRow>()
      .add_each(overlaps, &ManyLossRow::overlaps)
      .add("risk", &ManyLossRow::risk, "population risk", "loss")
      .add_each(slopes, &ManyLossRow::slopes);
}

/// The tolerance without --tol where the risk is a series; a sampled one has the errors that it
/// has.
constexpr double series_tolerance = 1e-3;

std::size_t directions_of(const SequenceModel& model) {
  return model.all_encodings().own.size();
}

/// With several directions rows are places of a ball, and few values of each overlap make many of
/// them.
int usual_points(std::size_t directions) {
  return directions < 2 ? 41 : directions == 2 ? 9 : directions == 3 ? 7 : 5;
}
constexpr double max_places = 1e6;

SequenceModel settle_loss(Loss& request) {
  SequenceModel model = settle_model(request);
  const std::size_t directions = directions_of(model);
  if (!request.points) request.points = usual_points(directions);
  const double count = std::pow(*request.points, static_cast<double>(directions) + 1.0);
  if (directions > 1 && count > max_places) {
    throw InvalidArgument("points", prose(R"(
          makes {:.2g} places of the {} overlaps; allowed: up to {:g} places)",
                                          count, directions + 1, max_places));
  }
  if (!request.tol && directions < 2 && has_series(model)) request.tol = series_tolerance;
  return model;
}

/// Whether a term of two tokens has kinks, which are then cut at on every line of a plane.
bool couples_kinks(const Link& link) {
  if (link.expression() == nullptr) return false;
  const auto terms = link.expression()->terms();
  return std::any_of(terms.begin(), terms.end(), [](const auto& term) {
    return term.part.switches() > 0 && term.part.used().size() == 2;
  });
}
constexpr double seconds_of_coupled_kinks = 0.4;

/// The points of a square grid that lie in the disk, or the segment e = 0.
std::vector<LossRow> places(int points, bool positional) {
  std::vector<LossRow> list;
  const auto coordinate = [&](int i) { return -1.0 + 2.0 * i / (points - 1.0); };
  for (int i = 0; i < points; ++i) {
    if (!positional) {
      list.push_back({.e = 0.0, .m = coordinate(i)});
      continue;
    }
    for (int j = 0; j < points; ++j) {
      const LossRow x{.e = coordinate(i), .m = coordinate(j)};
      if (std::hypot(x.e, x.m) <= 1.0 + 1e-12) list.push_back(x);
    }
  }
  return list;
}

/// Slopes that vanish by symmetry are 0 and have no error: an even target makes the risk even in m,
/// and an even student even under (e, m) -> (-e, -m). Encodings that see the teacher break the
/// first.
class Symmetry {
 public:
  explicit Symmetry(const SequenceModel& model)
      : even_target_(is_even(*model.target) && !model.encodings_see_teacher()),
        even_student_(is_even(*model.student.link)) {}
  [[nodiscard]] bool no_slope_e(const LossRow& x) const {
    return even_student_ && x.e == 0.0 && (even_target_ || x.m == 0.0);
  }
  [[nodiscard]] bool no_slope_m(const LossRow& x) const {
    return x.m == 0.0 && (even_target_ || (even_student_ && x.e == 0.0));
  }

 private:
  bool even_target_;
  bool even_student_;
};

/// A slope that vanishes by symmetry is 0; at a cone there is none.
std::optional<Estimate> slope_or_zero(const Estimate& slope, bool vanishes) {
  if (std::isnan(slope.value)) return std::nullopt;
  return vanishes ? Estimate{} : slope;
}

void add_minima(const Landscape& landscape, bool positional, const Context& context,
                Result& result) {
  const auto [minima, valley] = local_minima(landscape, positional, context);
  if (valley) {
    result.notes.push_back(prose(R"(
        The risk has a valley (or is flat), to its error: places that are no isolated minima are
        not counted.)"));
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

[[noreturn]] void refuse_infinite() {
  throw Refused(prose(R"(
      the risk is not finite: the target or the student has no value somewhere, or no finite
      second moment under Gaussian fields)"));
}

/// The places of a cubic grid that lie in the ball.
std::vector<OverlapList> ball_places(int points, std::size_t overlaps) {
  std::vector<OverlapList> list;
  std::vector<int> index(overlaps, 0);
  for (bool more = true; more;) {
    OverlapList x;
    double square = 0.0;
    for (const int i : index) {
      x.push_back(-1.0 + 2.0 * i / (points - 1.0));
      square += x.back() * x.back();
    }
    if (square <= 1.0 + 1e-12) list.push_back(std::move(x));
    std::size_t d = overlaps;
    while (d > 0 && ++index[d - 1] == points) index[--d] = 0;
    more = d > 0;
  }
  return list;
}

void run_many_loss(const Loss& request, const SequenceModel& model, const Context& context,
                   Result& result) {
  const auto columns = many_loss_columns(directions_of(model));
  result.table = columns.table();
  const ManyOverlaps landscape(model, request.seed, context);
  const auto list = ball_places(*request.points, directions_of(model) + 1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    context.check();
    context.report(static_cast<double>(i) / static_cast<double>(list.size()), "risk");
    const ManySlopes found = landscape.risk(list[i], context);
    if (!std::isfinite(found.risk.value)) refuse_infinite();
    ManyLossRow row{list[i], found.risk};
    for (const Estimate& slope : found.slopes) row.slopes.push_back(slope_or_zero(slope, false));
    result.table.add_row(columns.cells(row));
  }
  result.notes.emplace_back(
      "Minima are listed for encodings along one direction across the teacher.");
}

void run_plane_loss(const Loss& request, const SequenceModel& model, const Context& context,
                    Result& result) {
  const auto columns = loss_columns();
  const auto landscape = population_risk(model, request.seed, context);
  const auto list = places(*request.points, model.positional);
  const Symmetry symmetry(model);
  for (std::size_t i = 0; i < list.size(); ++i) {
    context.check();
    context.report(static_cast<double>(i) / static_cast<double>(list.size()), "risk");
    const RiskPoint point = landscape->at(list[i].e, list[i].m);
    if (!std::isfinite(point.risk.value)) refuse_infinite();
    LossRow row = list[i];
    row.risk = point.risk;
    row.slope_e = slope_or_zero(point.slope_e, symmetry.no_slope_e(row));
    row.slope_m = slope_or_zero(point.slope_m, symmetry.no_slope_m(row));
    result.table.add_row(columns.cells(row));
  }
  if (landscape->smooth()) {
    add_minima(*landscape, model.positional, context, result);
  } else if (model.loss != SampleLoss::frobenius) {
    const auto smooth = interpolated_risk(*landscape, model.positional, context);
    add_minima(*smooth, model.positional, context, result);
  } else {
    result.notes.emplace_back(
        "Minima are listed for squared losses: the unsquared one has no slope where a fit is "
        "perfect.");
  }
}

void run_loss(const Loss& request, const SequenceModel& model, const Context& context,
              Result& result) {
  if (directions_of(model) > 1) {
    run_many_loss(request, model, context, result);
  } else {
    run_plane_loss(request, model, context, result);
  }
  judge_tolerance(request.tol.value_or(0.0), "risk", "no more digits are at hand", result);
}

/// Measured seconds of the risk at one place by 16 replicates of 1024 points with both signs: the
/// links, and some sums for each token.
double sampled_seconds(const SequenceModel& model) {
  constexpr double points = 2.0 * 16.0 * 1024.0;
  constexpr double ns_per_token = 25.0;
  const Link& student = *model.student.link;
  const double point = model.target->value_ns() + student.value_ns() + student.pullback_ns() +
                       ns_per_token * static_cast<double>(model.tokens());
  return 1e-9 * points * point;
}

/// Measured seconds of both Hermite series: with a positional encoding one for each of some forty
/// places on it.
double series_seconds(const SequenceModel& model) {
  const auto outputs = static_cast<double>(model.target->outputs());
  if (!model.positional) return 0.05 + 0.01 * outputs;
  return 0.2 + (model.tokens() > 2 ? 0.15 : 0.12) * outputs;
}

/// Places besides those of the rows at which minima look at a sampled risk.
double extra_places(const SequenceModel& model) {
  constexpr double of_each_minimum = 5.0;
  if (model.loss == SampleLoss::frobenius) return 0.0;
  return static_cast<double>(interpolation_nodes(model.positional)) + of_each_minimum;
}

Cost loss_cost(const Loss& request, const SequenceModel& model) {
  const double points = *request.points;
  const double count = model.positional ? points * points : points;
  const std::size_t directions = directions_of(model);
  const bool series = directions < 2 && has_series(model);
  Cost cost;
  if (directions > 1) {
    const double overlaps = static_cast<double>(directions) + 1.0;
    // The part of its cube that a ball fills.
    const double ball =
        std::pow(0.5 * std::sqrt(std::numbers::pi), overlaps) / std::tgamma(0.5 * overlaps + 1.0);
    const double inside = ball * std::pow(points, overlaps);
    cost.method = prose(R"(
        Scrambled Sobol points, 16 replicates of 8192 with both signs, at every place of the ball of
        overlaps.)");
    cost.core_seconds = 0.1 + inside * ManyOverlaps::seconds(model);
    cost.memory_bytes = 100e6 + 200.0 * overlaps * inside;
    return cost;
  }
  cost.method = series ? prose(R"(
  R = E|g|^2/2 + F(e)/2 - sum_s c_s(e) m^s from Hermite coefficients of target and student on a
  grid; errors: the difference of two rules.)")
                       : prose(R"(
  Scrambled Sobol points, 16 replicates of 1024, at every (e, m); minima of squared losses from a
  polynomial through such points.)");
  cost.core_seconds = series ? series_seconds(model) + 2e-5 * count
                             : sampled_seconds(model) * (count + extra_places(model));
  if (series && couples_kinks(*model.target)) cost.core_seconds += seconds_of_coupled_kinks;
  if (series && couples_kinks(*model.student.link)) cost.core_seconds += seconds_of_coupled_kinks;
  cost.memory_bytes = 200e6 + 400.0 * count;
  return cost;
}

}  // namespace

VerbOf<Loss> Loss::verb() {
  Definition<Loss, SequenceModel> d;
  d.family = "ssi";
  d.name = "loss";
  d.summary = "the population risk of a sequence single-index model over its overlaps";
  d.details = prose(R"(
      Gives the risk R(e, m) of a student with semantic overlap m (cosine with the teacher) and
      positional overlap e (cosine with the positional encoding) on the disk e^2 + m^2 <= 1, its
      gradient and, in the summary, its local minima and their types. A model is a `target` with
      a `student`, or `a` and `omega`: the positional-semantic model with the target (1-omega)
      softmax(z z^T) + omega A(a), two tokens and P1 = -P2. The loss is |y-f|^2/2 unless `loss`
      says otherwise. With `encodings` along several directions across the teacher there is an
      overlap e for each, and rows are places of a ball.)");
  d.fields = model_fields<Loss>();
  add_mixture_fields(d.fields);
  d.fields.add("points", &Loss::points, {.min = 3, .max = 401},
               "Values of each overlap from -1 to 1; 41 unless given, and fewer with several "
               "directions.");
  d.rows = {{"", loss_columns().list()},
            {"with `encodings` along several directions", many_loss_columns(2).list()}};
  d.primary = "risk";
  d.usual_tolerance = "1e-3 where the risk is a series, and what comes out where it is sampled,";
  d.examples = {"ssi loss --a 1 --omega 0.67 --points 41",
                "ssi loss --target 'He2(z1)+He2(z2)' --positional --out landscape",
                "ssi loss --target H2sum --tokens 8 --student tied --loss squared"};
  d.method = 7;
  d.settle = settle_loss;
  d.cost = loss_cost;
  d.run = run_loss;
  return d.verb();
}

}  // namespace onset::ssi
