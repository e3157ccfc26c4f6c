#include <string>

#include "core/definition.hpp"
#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/ssi.hpp"
#include "onset/ssi/limits/flow.hpp"
#include "ssi/learners/gain.hpp"
#include "ssi/learners/power_law.hpp"
#include "ssi/verbs/model_fields.hpp"
#include "ssi/verbs/sgd_fields.hpp"

namespace onset::ssi {
namespace {

struct GainRow {
  int tokens = 0;
  std::optional<Estimate> steps_tied = {};
  std::optional<Estimate> steps_untied = {};
  std::optional<Estimate> gain = {};
  std::optional<Estimate> gain_ode = {};
  std::optional<Estimate> gain_fit = {};
  double rate_tied = 0.0;
  double rate_untied = 0.0;
};

Columns<GainRow> gain_columns() {
  return Columns<GainRow>()
      .add("tokens", &GainRow::tokens, "tokens L of a sample")
      .add("steps_tied", &GainRow::steps_tied, "mean first step with |m| >= level, tied weights",
           "steps")
      .add("steps_untied", &GainRow::steps_untied,
           "the same with one weight vector per token, overlap |(m_1, .., m_L)|/sqrt(L)", "steps")
      .add("gain", &GainRow::gain, "steps_untied/steps_tied")
      .add("gain_ode", &GainRow::gain_ode, "the same from the flow at large d")
      .add("gain_fit", &GainRow::gain_fit, "the power law in tokens that fits `gain` best")
      .add("rate_tied", &GainRow::rate_tied, "learning rate of the tied student")
      .add("rate_untied", &GainRow::rate_untied, "learning rate of the untied student");
}

struct SettledGain {
  std::vector<SequenceModel> models;  ///< with tied students, one for every number of tokens
  GainOptions options;
};

SettledGain settle_gain(Gain& request) {
  SettledGain settled;
  for (const int tokens : request.tokens) {
    ModelTexts texts;
    texts.target = request.target;
    texts.student = "tied";
    texts.options = {.tokens = static_cast<std::size_t>(tokens), .activation = request.activation};
    texts.loss = request.loss;
    settled.models.push_back(named_model(texts));
  }
  settled.options.sgd = sgd_options(request);
  settled.options.sgd.steps = static_cast<std::uint64_t>(request.steps);
  settled.options.policy = request.policy;
  return settled;
}

/// A gain against the number of tokens, where it is known.
struct GainSeries {
  std::vector<double> tokens;
  std::vector<Estimate> gains;

  void add(int count, const std::optional<Estimate>& gain) {
    if (!gain) return;
    tokens.push_back(count);
    gains.push_back(*gain);
  }
  [[nodiscard]] std::optional<PowerLaw> fit() const { return power_law(tokens, gains); }
  [[nodiscard]] Estimate exponent() const {
    const auto law = fit();
    return law ? law->exponent : no_estimate;
  }
};

/// The rows once more, now with the fit, which takes all of them.
void write_fit(const PowerLaw& law, std::vector<GainRow> rows, Result& result) {
  for (GainRow& row : rows) row.gain_fit = law.at(row.tokens);
  result.table = gain_columns().table(rows);
}

void run_gain(const Gain& request, const SettledGain& settled, const Context& context,
              Result& result) {
  const auto columns = gain_columns();
  std::vector<GainRow> rows;
  GainSeries measured;
  GainSeries ode;
  // An interrupted run still has the exponents of the rows that it finished.
  keep_rows(result, [&] {
    const std::size_t count = settled.models.size();
    for (std::size_t i = 0; i < count; ++i) {
      context.report(static_cast<double>(i) / static_cast<double>(count), "runs");
      const MeasuredGain gain = untied_over_tied(settled.models[i], settled.options, context);
      rows.push_back({.tokens = request.tokens[i],
                      .steps_tied = gain.steps_tied,
                      .steps_untied = gain.steps_untied,
                      .gain = gain.gain,
                      .gain_ode = gain.gain_ode,
                      .rate_tied = gain.rate_tied,
                      .rate_untied = gain.rate_untied});
      result.table.add_row(columns.cells(rows.back()));
      measured.add(request.tokens[i], gain.gain);
      ode.add(request.tokens[i], gain.gain_ode);
    }
  });
  if (const auto law = measured.fit()) write_fit(*law, rows, result);
  if (measured.gains.size() < result.table.rows().size()) {
    result.unconverged("some runs did not reach the level within `steps`; their rows have no gain");
  }
  judge_tolerance(request.tol, "gain", "more `runs` would help", result);
  if (result.status != ResultStatus::refused) {
    result.summary.emplace_back("exponent", measured.exponent());
    result.summary.emplace_back("exponent_ode", ode.exponent());
  }
  result.summary.emplace_back("policy", std::string(to_string(request.policy)));
}

Cost gain_cost(const Gain& request, const SettledGain& settled) {
  Cost cost;
  cost.method = prose(R"(
      First passages of the exact chains of both students, and of the flow at large d. The
      exponent is the slope of log(gain) against log(tokens), weighted by the errors.)");
  for (SequenceModel model : settled.models) {
    // Without --steps runs end at the level, after about three times d/eta steps for each token
    // where the weights are not tied; rates other than --rate make that a bound.
    const auto tokens = static_cast<double>(model.tokens());
    SgdOptions sgd = settled.options.sgd;
    const auto steps = [&](double typical) {
      return counted_steps(request.steps > 0.0 ? request.steps : typical, request.dim,
                           request.rate);
    };
    sgd.steps = steps(3.0 * request.dim / request.rate);
    cost.core_seconds += 2.0 * FlowField::seconds(model) + chain_seconds(model, sgd);
    model.student.vector_per_token = true;
    sgd.steps = steps(3.0 * request.dim / request.rate * tokens);
    cost.core_seconds += chain_seconds(model, sgd);
  }
  cost.memory_bytes = 100e6;
  return cost;
}

}  // namespace

VerbOf<Gain> Gain::verb() {
  Definition<Gain, SettledGain> d;
  d.family = "ssi";
  d.name = "gain";
  d.summary = "how many more samples untied weights need than tied ones, against the tokens";
  d.details = prose(R"(
      A tied student has one weight vector for all tokens, an untied one has a vector for each
      token. The gain is the ratio of the mean numbers of steps after which their overlaps reach
      `level`, by the exact chains. It depends on the learning rates: `rate` is that of the
      untied student, and `policy` says how that of the tied one follows from it. The flow at
      large d gives the exponents 1 (equal) and, at small rates, 1.5 (sqrt) and 2 (linear).)");
  d.fields
      .add("tokens", &Gain::tokens, {.min = 1, .max = max_tokens},
           "Numbers of tokens L, a comma list.")
      .add_word("policy", &Gain::policy,
                {RatePolicy::equal, RatePolicy::sqrt, RatePolicy::linear, RatePolicy::optimal},
                "Rate of the tied student: `rate`, sqrt(L) times it, L times it, or each its best.")
      .add("target", &Gain::target, {}, "Target, as in ssi sie.")
      .add("activation", &Gain::activation, {}, "Activation, as in ssi sie.");
  add_loss_field(d.fields);
  add_sgd_fields(d.fields);
  d.fields.edit("start").text =
      "overlapped: every m_i = 1/sqrt(d); random: uniform on the sphere; zero: m = 0.";
  d.fields.add("steps", &Gain::steps, {.min = 0.0, .max = max_steps, .whole = true},
               "Steps of a run at most; 0: 50 times those of the flow.");
  d.rows = {{"", gain_columns().list()}};
  d.primary = "gain";
  d.examples = {"ssi gain --tokens 2,4,8 --policy equal --dim 1000 --rate 0.05 --level 0.3",
                "ssi gain --tokens 2,4,8,16 --policy linear --rate 0.002 --loss squared --runs 64"};
  d.method = 8;
  d.settle = settle_gain;
  d.cost = gain_cost;
  d.run = run_gain;
  return d.verb();
}

}  // namespace onset::ssi
