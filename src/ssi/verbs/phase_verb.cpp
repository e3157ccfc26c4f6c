#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/ssi.hpp"
#include "ssi/limits/phase/phase.hpp"
#include "ssi/verbs/named_model.hpp"

namespace onset::ssi {
namespace {

constexpr double max_phase_tokens = 16;
constexpr const char* strength_meaning = "strength of the positional part of the target";

Columns<PhasePoint> point_columns() {
  return Columns<PhasePoint>()
      .add("a", &PhasePoint::a, strength_meaning)
      .add("omega", &PhasePoint::omega, "weight of the positional part")
      .add("global_type", &PhasePoint::global_type, prose(R"(
          the global minimum: semantic (0, 1), positional (1, 0), mixed; degenerate at omega =
          1, where nothing depends on m; unresolved where the errors of more than two tokens leave
          it open)"))
      .add("start_type", &PhasePoint::start_type, prose(R"(
          steepest direction at the start: semantic or positional; none where nothing falls
          (omega = 1); unresolved likewise)"))
      .add("minima", &PhasePoint::minima,
           "local minima in the quadrant e, m >= 0; empty where errors leave it open")
      .add("e_min", &PhasePoint::e_min, "positional overlap of the global minimum")
      .add("m_min", &PhasePoint::m_min, "its semantic overlap")
      .add("risk_min", &PhasePoint::risk_min, "its risk", "loss |y-f|^2/2")
      .add("region", &PhasePoint::region, prose(R"(
          what SGD will do: the global minimum, alone or of two, and whither the start leads;
          mixed; degenerate; unresolved)"));
}

Columns<PhaseCurves> curve_columns() {
  return Columns<PhaseCurves>()
      .add("a", &PhaseCurves::a, strength_meaning)
      .add("positional_appears", &PhaseCurves::positional_appears,
           "omega from which (1, 0) is a local minimum")
      .add("start_switches", &PhaseCurves::start_switches,
           "omega at which the steepest direction becomes positional")
      .add("global_switches", &PhaseCurves::global_switches,
           "omega at which the global minimum passes e = m")
      .add("semantic_ends", &PhaseCurves::semantic_ends,
           "omega from which (0, 1) is no local minimum");
}

constexpr double two_token_tolerance = 1e-6;
constexpr double any_tolerance = 1e-2;

/// The request says it all: there is no model to build.
struct SettledPhase {};

SettledPhase settle_phase(Phase& request) {
  // More tokens are sampled, and have the errors that they have.
  if (!request.tol) request.tol = request.tokens == 2 ? two_token_tolerance : any_tolerance;
  if (!request.curves && request.omega.empty()) {
    throw InvalidArgument("omega", "is missing; allowed: a grid of numbers in [0, 1], or `curves`");
  }
  if (request.curves && !request.omega.empty()) {
    throw InvalidArgument("omega", "has no meaning with `curves`; allowed: leaving it out");
  }
  return {};
}

void add_curves(const PhaseCurves& curves, Result& result) {
  result.table.add_row(curve_columns().cells(curves));
  if (!curves.continuous) return;
  result.notes.push_back(prose(R"(
      At a = {} the global minimum moves from semantic to positional continuously, through mixed
      points; global_switches is where e = m.)",
                               to_text(Value(curves.a))));
}

void run_phase(const Phase& request, const SettledPhase&, const Context& context, Result& result) {
  const auto columns = point_columns();
  result.table = request.curves ? curve_columns().table() : columns.table();
  const PhaseDiagram diagram(context, static_cast<std::size_t>(request.tokens), request.seed);
  std::size_t open = 0;
  for (std::size_t i = 0; i < request.a.size(); ++i) {
    const double a = request.a[i];
    context.report(static_cast<double>(i) / static_cast<double>(request.a.size()), "phases");
    context.check();
    if (request.curves) add_curves(diagram.curves(a), result);
    for (const double omega : request.omega) {
      context.check();
      const PhasePoint point = diagram.point(a, omega);
      open += point.region == "unresolved" ? 1 : 0;
      result.table.add_row(columns.cells(point));
    }
  }
  if (open > 0) {
    result.unconverged(prose(R"(
        {} of {} points lie so near to a boundary that sampled risks do not tell the side)",
                             open, request.a.size() * request.omega.size()));
  }
  judge_tolerance(request.tol.value_or(0.0), request.curves ? "global_switches" : "risk_min",
                  "the universal table has no more digits", result);
}

Cost phase_cost(const Phase& request, const SettledPhase&) {
  /// Points that a curve, which is bisected, takes as long as.
  constexpr double points_of_curve = 50.0;
  Cost cost;
  const auto tokens = static_cast<std::size_t>(request.tokens);
  cost.method = tokens > 2 ? prose(R"(
      Functions of the overlaps that serve every a and omega, sampled at nodes of the disk (16
      replicates of 4096 Sobol points with both signs) and interpolated by even polynomials; errors
      and verdicts from the 16 tables.)")
                           : prose(R"(
      One universal table of E[p(z*) p(z)] and E[p^2] from Hermite coefficients (degree 160)
      serves every a and omega; minima are looked for on the rim of the quadrant and on a net
      inside. Curves: three are roots of functions that are linear in omega, the global switch
      is bisected. Errors: the difference to a coarser table.)");
  const double each = request.curves ? points_of_curve : static_cast<double>(request.omega.size());
  const double points = static_cast<double>(request.a.size()) * each;
  cost.core_seconds =
      PhaseDiagram::table_seconds(tokens) + PhaseDiagram::point_seconds(tokens) * points;
  cost.memory_bytes = 100e6 + 1000.0 * points;
  return cost;
}

}  // namespace

VerbOf<Phase> Phase::verb() {
  Definition<Phase, SettledPhase> d;
  d.family = "ssi";
  d.name = "phase";
  d.summary = "phases of the positional-semantic model: which minimum wins, where SGD starts to go";
  d.details = prose(R"(
      Attention of two tokens (or `tokens`) without reduction learns the target (1-omega)
      softmax(z z^T) + omega A, where A is the attention matrix of positions of strength a with
      encodings +P, -P, +P, .. For every (a,
      omega) the rows have the type of the global minimum of the population risk (loss
      |y-f|^2/2), the steepest direction at the uninformed start, and the number of local
      minima. With `curves` they have, for every a, the values of omega at which these change;
      cells are empty where they do not.)");
  d.fields
      .add("a", &Phase::a, {.min = 0.0, .max = max_strength, .required = true, .grid = true},
           "Strengths a of the positional part of the target.")
      .add("omega", &Phase::omega, {.min = 0.0, .max = 1.0, .grid = true},
           "Weights omega of the positional part.")
      .add("tokens", &Phase::tokens, {.min = 2, .max = max_phase_tokens},
           "Tokens L of a sample; more than two are sampled.")
      .add("curves", &Phase::curves, {}, "Gives the four curves instead of a diagram.");
  d.rows = {{"", point_columns().list()}, {"with `curves`", curve_columns().list()}};
  d.primary = "risk_min";
  d.usual_tolerance = "1e-6 for two tokens, 1e-2 for more,";
  d.examples = {"ssi phase --a 0.6:1.4:0.2 --omega 0.5:0.9:0.1",
                "ssi phase --a 0.7:1.5:0.1 --curves",
                "ssi phase --tokens 4 --a 0.8:1.4:0.2 --curves"};
  d.settle = settle_phase;
  d.cost = phase_cost;
  d.run = run_phase;
  return d.verb();
}

}  // namespace onset::ssi
