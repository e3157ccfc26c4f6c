#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/ssi.hpp"
#include "onset/ssi/limits/exponent.hpp"
#include "ssi/verbs/model_fields.hpp"

namespace onset::ssi {
namespace {

struct SieRow {
  std::optional<int> sie = {};
  std::optional<int> sie_positional = {};
  std::optional<int> sie_descending = {};
  std::optional<int> s_eff = {};
  std::optional<int> sign = {};
  std::optional<Estimate> curvature_e = {};
  Estimate curvature_m = {};
  std::string verdict = {};
};

Columns<SieRow> sie_columns() {
  const char* unit = "loss |y-f|^2/2";
  return Columns<SieRow>()
      .add("sie", &SieRow::sie, "sequence information exponent: first degree of the target")
      .add("sie_positional", &SieRow::sie_positional, prose(R"(
          first order at which any derivative of the risk at the start does not vanish, with the
          positional encoding)"))
      .add("sie_descending", &SieRow::sie_descending,
           "first order at which the risk falls along some direction; empty where it falls along "
           "none")
      .add("s_eff", &SieRow::s_eff, "first degree of the target that the student sees")
      .add("sign", &SieRow::sign, "sign of what it sees: +1 lowers the risk along m (even degrees)")
      .add("R_ee", &SieRow::curvature_e, "curvature of the risk along e at the start", unit)
      .add("R_mm", &SieRow::curvature_m, "curvature of the risk along m at the start", unit)
      .add("verdict", &SieRow::verdict,
           "verdict on the exponent: present, absent (none up to the cut-off) or unresolved");
}

SpectrumOptions spectrum_options(const Sie& request) {
  SpectrumOptions options;
  options.degree = static_cast<std::size_t>(request.degree);
  options.samples = static_cast<std::size_t>(request.samples);
  options.seed = request.seed;
  return options;
}

SequenceModel settle_sie(Sie& request) {
  SequenceModel model = settle_target(request);
  (void)model.shifts();  // refuses several directions
  spectrum_options(request).validate();
  return model;
}

void add_summary(const SequenceModel& model, const Exponents& x, Result& result) {
  const auto put = [&](const std::string& name, Cell value) {
    result.summary.emplace_back(name, std::move(value));
  };
  put("meaning", x.meaning);
  put("samples", x.samples);
  if (model.student.reduction) put("reduction", std::string(to_string(*model.student.reduction)));
  put("method", std::string(x.spectrum.exact ? "quadrature" : "directional test"));
  for (std::size_t s = 1; s < x.spectrum.degrees.size(); ++s) {
    const std::string degree = std::to_string(s);
    put("weight_" + degree, x.spectrum.degrees[s].weight);
    put("visible_" + degree, x.origin.visible[s]);
    put("verdict_" + degree, std::string(to_string(x.spectrum.degrees[s].presence)));
  }
}

void run_sie(const Sie& request, const SequenceModel& model, const Context& context,
             Result& result) {
  const Exponents x = information_exponents(model, spectrum_options(request), context);
  SieRow row{.sie = x.sie,
             .sie_positional = x.sie_positional,
             .sie_descending = x.sie_descending,
             .s_eff = x.s_eff,
             .sign = x.sign,
             .curvature_m = x.origin.curvature_m(),
             .verdict = std::string(to_string(x.verdict))};
  if (model.positional) row.curvature_e = x.origin.curvature_e();
  result.table = sie_columns().table({row});
  add_summary(model, x, result);
  for (const std::string& remark : x.spectrum.remarks) result.notes.push_back(remark);
  if (!x.resolved) {
    result.unconverged(model.student.jumps()
                           ? "the student jumps, so that its risk does not tell what SGD does"
                           : "some degree is neither clearly there nor clearly absent");
  }
  judge_tolerance(request.tol, model.positional ? "R_ee" : "R_mm", "no more is known of this model",
                  result);
}

Cost sie_cost(const Sie& request, const SequenceModel& model) {
  Cost cost;
  cost.method = prose(R"(
      The target is opened into terms of few tokens, each projected on products of Hermite
      polynomials by quadrature (exactly if it is a polynomial); rules are refined until every
      degree is clearly there or clearly absent. What the student sees of a degree is the
      product of its coefficients with the target's. Targets that couple more than three tokens
      are tested by Monte Carlo in random directions.)");
  cost.core_seconds = exponents_seconds(model, spectrum_options(request));
  cost.memory_bytes = 200e6;
  return cost;
}

}  // namespace

VerbOf<Sie> Sie::verb() {
  Definition<Sie, SequenceModel> d;
  d.family = "ssi";
  d.name = "sie";
  d.summary = "the sequence information exponent of a target, and what a student makes of it";
  d.details = prose(R"(
      The first degree of a target's Hermite expansion decides how many samples online SGD needs
      to leave an uninformed start: about d for 1, d log d for 2 and d^(s-1) for s >= 3, where d
      is the dimension of a token. But a student may see nothing of that degree, or see it with
      a sign that holds it back; s_eff, sign and sie_descending tell. They are properties of the
      risk, which SGD descends unless the student jumps; the meaning in the summary says so. A
      degree is present, absent or unresolved; if one is unresolved the exit code is 3.
      Curvatures are those of the loss |y-f|^2/2.)");
  d.fields = model_fields<Sie>();
  d.fields.edit("target").required = true;
  d.fields
      .add("degree", &Sie::degree, {.min = 0, .max = 12},
           "Largest degree that is looked at, 2 or more; 0: 8 up to three tokens, 6 beyond.")
      .add("samples", &Sie::samples, {.min = 10'000, .max = 1e8},
           "Samples of the directional test, where it is needed.");
  d.rows = {{"", sie_columns().list()}};
  // By default whatever comes out is fine: sampled models have errors of 1e-3.
  d.primary = "R_ee";
  d.examples = {"ssi sie --target 'He2(z1)+He2(z2)' --tokens 2 --positional",
                "ssi sie --target '4/3+He4(z1)+2*He4(z2)' --reduction trace-sqrt --positional",
                "ssi sie --target 'z1^2-z2^2' --student tied"};
  d.method = 3;
  d.settle = settle_sie;
  d.cost = sie_cost;
  d.run = run_sie;
  return d.verb();
}

}  // namespace onset::ssi
