#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/outcome.hpp"
#include "onset/ssi/limits/exponent.hpp"
#include "ssi/verbs/model_options.hpp"
#include "ssi/verbs/ssi_verbs.hpp"

namespace onset::ssi {
namespace {

std::vector<Column> sie_columns() {
  return {
      {"sie", "sequence information exponent: first degree of the target", "", false},
      {"sie_positional",
       "first order at which any derivative of the risk at the start does not vanish, with the "
       "positional encoding",
       "", false},
      {"sie_descending",
       "first order at which the risk falls along some direction; empty: it does not", "", false},
      {"s_eff", "first degree of the target that the student sees", "", false},
      {"sign", "sign of what it sees: +1 lowers the risk along m (even degrees)", "", false},
      {"R_ee", "curvature of the risk along e at the start", "loss |y-f|^2/2", true},
      {"R_mm", "curvature of the risk along m at the start", "loss |y-f|^2/2", true},
      {"verdict", "on the exponent: present, absent (none up to the cut-off) or unresolved", "",
       false}};
}

Cell whole(const std::optional<int>& x) {
  if (!x) return {};
  return std::int64_t{*x};
}

void add_summary(const NamedModel& named, const Exponents& x, Result& result) {
  const auto put = [&](const std::string& name, Cell value) {
    result.summary.emplace_back(name, std::move(value));
  };
  put("meaning", x.meaning);
  put("samples", x.samples);
  if (!named.reduction.empty()) put("reduction", named.reduction);
  put("method", std::string(x.spectrum.exact ? "quadrature" : "directional test"));
  for (std::size_t s = 1; s < x.spectrum.degrees.size(); ++s) {
    const std::string degree = std::to_string(s);
    put("weight_" + degree, x.spectrum.degrees[s].weight);
    put("visible_" + degree, x.origin.visible[s]);
    put("verdict_" + degree, std::string(to_string(x.spectrum.degrees[s].presence)));
  }
}

Result run_sie(const Parameters& p, const Context& context) {
  const NamedModel named = read_model(p);
  SpectrumOptions options;
  options.degree = static_cast<std::size_t>(p.integer("degree"));
  options.samples = static_cast<std::size_t>(p.integer("samples"));
  options.seed = static_cast<std::uint64_t>(p.integer("seed"));
  Result result;
  result.table = Table(sie_columns());
  const Exponents x = information_exponents(named.model, options, context);
  const bool has_e = named.model.positional;
  result.table.add_row({whole(x.sie), whole(x.sie_positional), whole(x.sie_descending),
                        whole(x.s_eff), whole(x.sign),
                        has_e ? Cell(x.origin.curvature_e()) : Cell(), Cell(x.origin.curvature_m()),
                        std::string(to_string(x.verdict))});
  add_summary(named, x, result);
  for (const std::string& remark : x.spectrum.remarks) result.notes.push_back(remark);
  if (!x.resolved) {
    result.status = ResultStatus::unconverged;
    result.reason = named.model.student_jumps()
                        ? "the student jumps, so that its risk does not tell what SGD does"
                        : "some degree is neither clearly there nor clearly absent";
  }
  judge_tolerance(p, has_e ? "R_ee" : "R_mm", "no more is known of this model", result);
  return result;
}

Cost sie_cost(const Parameters& p) {
  const NamedModel named = read_model(p);
  Cost cost;
  cost.method =
      "The target is opened into terms of few tokens, each projected on products of Hermite "
      "polynomials by quadrature (exactly if it is a polynomial); rules are refined until every "
      "degree is clearly there or clearly absent. What the student sees of a degree is the product "
      "of its coefficients with the target's. Targets that couple more than three tokens are "
      "tested by Monte Carlo in random directions.";
  cost.core_seconds = named.model.tokens() <= 2 ? 0.2 : 3.0;
  cost.memory_bytes = 200e6;
  return cost;
}

}  // namespace

Verb sie_verb() {
  PlainVerb verb;
  verb.family = "ssi";
  verb.name = "sie";
  verb.summary = "the sequence information exponent of a target, and what a student makes of it";
  verb.details =
      "The first degree of a target's Hermite expansion decides how many samples online SGD needs "
      "to leave an uninformed start: about d for 1, d log d for 2, d^(s-1) for s >= 3, where d is "
      "the dimension of a token. But a student may see nothing of that degree, or see it with a "
      "sign that holds it back: s_eff, sign and sie_descending tell. They are properties of the "
      "risk, "
      "which SGD descends unless the student jumps: the meaning says so. A degree is present, "
      "absent "
      "or "
      "unresolved, and if one is unresolved the exit code is 3. Curvatures are those of the loss "
      "|y-f|^2/2.";
  verb.parameters = model_parameters();
  verb.parameters.front().required = true;
  verb.parameters.push_back(
      make_parameter("degree", ParameterKind::integer, std::int64_t{0}, 0, 12,
                     "Largest degree that is looked at; 0: 8 up to three tokens, 6 beyond."));
  verb.parameters.push_back(make_parameter("samples", ParameterKind::integer, std::int64_t{400'000},
                                           10'000, 1e8,
                                           "Samples of the directional test, where it is needed."));
  verb.columns = sie_columns();
  verb.primary = "R_ee";
  // Whatever comes out, unless asked for more: sampled models have errors of 1e-3.
  verb.default_tol = 0.0;
  verb.examples = {"ssi sie --target 'He2(z1)+He2(z2)' --tokens 2 --positional",
                   "ssi sie --target '4/3+He4(z1)+2*He4(z2)' --reduction trace-sqrt --positional",
                   "ssi sie --target 'z1^2-z2^2' --student tied"};
  verb.method = 3;
  verb.cost = sie_cost;
  verb.run = run_sie;
  return to_verb(std::move(verb));
}

}  // namespace onset::ssi
