#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/numerics/parallel.hpp"
#include "onset/ssi/limits/phase.hpp"
#include "ssi/verbs/model_options.hpp"
#include "ssi/verbs/ssi_verbs.hpp"

namespace onset::ssi {
namespace {

std::vector<Column> phase_columns() {
  return {
      {"a", "strength of the positional part of the target", "", false},
      {"omega", "weight of the positional part", "", false},
      {"global_type",
       "the global minimum: semantic (0, 1), positional (1, 0), mixed; degenerate at omega = 1, "
       "where nothing depends on m",
       "", false},
      {"start_type",
       "steepest direction at the start: semantic or positional; none where nothing falls (omega = "
       "1)",
       "", false},
      {"minima", "local minima in the quadrant e, m >= 0", "", false},
      {"e_min", "positional overlap of the global minimum", "", true},
      {"m_min", "its semantic overlap", "", true},
      {"risk_min", "its risk", "loss |y-f|^2/2", true}};
}

std::vector<Column> curve_columns() {
  return {{"a", "strength of the positional part of the target", "", false},
          {"positional_appears", "omega from which (1, 0) is a local minimum", "", true},
          {"start_switches", "omega at which the steepest direction becomes positional", "", true},
          {"global_switches", "omega at which the global minimum passes e = m", "", true},
          {"semantic_ends", "omega from which (0, 1) is no local minimum", "", true}};
}

template <class T>
Cell cell(const std::optional<T>& x) {
  if (!x) return {};
  return Cell(*x);
}

void add_point(const PhaseDiagram& diagram, double a, double omega, Table& table) {
  const PhasePoint x = diagram.point(a, omega);
  Cell minima;
  if (x.minima) minima = std::int64_t{*x.minima};
  table.add_row(
      {a, omega, x.global_type, x.start_type, minima, cell(x.e_min), cell(x.m_min), x.risk_min});
}

void add_curves(const PhaseDiagram& diagram, double a, Result& result) {
  const PhaseCurves x = diagram.curves(a);
  result.table.add_row({a, cell(x.positional_appears), cell(x.start_switches),
                        cell(x.global_switches), cell(x.semantic_ends)});
  if (x.continuous) {
    result.notes.push_back("At a = " + to_text(Value(a)) +
                           " the global minimum moves from semantic to positional continuously, "
                           "through mixed points; global_switches is where e = m.");
  }
}

Result run_phase(const Parameters& p, const Context& context) {
  const bool curves = p.flag("curves");
  if (!curves && !p.has("omega")) {
    throw InvalidArgument("--omega",
                          "is missing; allowed: a grid of numbers in [0, 1], or --curves");
  }
  if (curves && p.has("omega")) {
    throw InvalidArgument("--omega", "has no meaning with --curves; allowed: leaving it out");
  }
  Result result;
  result.table = Table(curves ? curve_columns() : phase_columns());
  keep_rows(result, [&] {
    const PhaseDiagram diagram(context);
    const auto& strengths = p.reals("a");
    for (std::size_t i = 0; i < strengths.size(); ++i) {
      context.report(static_cast<double>(i) / static_cast<double>(strengths.size()), "phases");
      context.check();
      if (curves) {
        add_curves(diagram, strengths[i], result);
      } else {
        for (const double omega : p.reals("omega")) {
          context.check();
          add_point(diagram, strengths[i], omega, result.table);
        }
      }
    }
  });
  const std::string column = curves ? "global_switches" : "risk_min";
  judge_tolerance(p, column, "the universal table has no more digits", result);
  return result;
}

Cost phase_cost(const Parameters& p) {
  Cost cost;
  cost.method =
      "One universal table of E[p(z*) p(z)] and E[p^2] from Hermite coefficients (degree 160) "
      "serves every a and omega; minima are looked for on the rim of the quadrant and on a net "
      "inside. Curves: three are roots of functions that are linear in omega, the global switch is "
      "bisected. Errors: the difference to a coarser table.";
  const double omegas = p.has("omega") ? static_cast<double>(p.reals("omega").size()) : 50.0;
  const double points = static_cast<double>(p.reals("a").size()) * omegas;
  cost.core_seconds = 0.8 + 4e-5 * points;
  cost.memory_bytes = 100e6 + 1000.0 * points;
  return cost;
}

}  // namespace

Verb phase_verb() {
  PlainVerb verb;
  verb.family = "ssi";
  verb.name = "phase";
  verb.summary =
      "phases of the positional-semantic model: which minimum wins, where SGD starts to go";
  verb.details =
      "Two-token attention without reduction learns the target (1-omega) softmax(z z^T) + omega A, "
      "where A is the attention matrix of positions of strength a, P1 = -P2. For every (a, omega): "
      "the type of the global minimum of the population risk (loss |y-f|^2/2), the steepest "
      "direction at the uninformed start, and the number of local minima. With --curves: the "
      "values of omega at which these change, for every a; empty where they do not.";
  verb.parameters = {make_parameter("a", ParameterKind::grid, {}, 0.0, max_a,
                                    "Strengths a of the positional part of the target."),
                     make_parameter("omega", ParameterKind::grid, {}, 0.0, 1.0,
                                    "Weights omega of the positional part."),
                     make_flag("curves", "The four curves instead of a diagram.")};
  verb.parameters.front().required = true;
  verb.columns = phase_columns();
  verb.primary = "risk_min";
  verb.default_tol = 1e-6;
  verb.examples = {"ssi phase --a 0.6:1.4:0.2 --omega 0.5:0.9:0.1",
                   "ssi phase --a 0.7:1.5:0.1 --curves"};
  verb.cost = phase_cost;
  verb.run = run_phase;
  return to_verb(std::move(verb));
}

}  // namespace onset::ssi
