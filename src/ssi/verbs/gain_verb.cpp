#include <cmath>
#include <string>

#include "core/plain_verb.hpp"
#include "onset/core/error.hpp"
#include "onset/core/outcome.hpp"
#include "onset/ssi/learners/gain.hpp"
#include "ssi/verbs/model_options.hpp"
#include "ssi/verbs/sgd_options.hpp"
#include "ssi/verbs/ssi_verbs.hpp"

namespace onset::ssi {
namespace {

std::vector<Column> gain_columns() {
  return {{"tokens", "tokens L of a sample", "", false},
          {"steps_tied", "mean first step with |m| >= level, tied weights", "steps", true},
          {"steps_untied",
           "the same with one weight vector per token, overlap |(m_1, .., m_L)|/sqrt(L)", "steps",
           true},
          {"gain", "steps_untied/steps_tied", "", true},
          {"gain_ode", "the same from the flow at large d", "", true},
          {"rate_tied", "learning rate of the tied student", "", false},
          {"rate_untied", "learning rate of the untied student", "", false}};
}

Cell cell(const std::optional<Estimate>& x) {
  if (!x) return {};
  return Cell(*x);
}

SequenceModel tied_model(const Parameters& p, double tokens) {
  if (tokens != std::floor(tokens)) {
    throw InvalidArgument(
        "--tokens", to_text(Value(tokens)) + " is not whole; allowed: whole numbers from 1 to 64");
  }
  const auto count = static_cast<std::size_t>(tokens);
  SequenceModel model;
  try {
    model.target = read_target(p.text("target"), count);
  } catch (const numerics::SyntaxError& e) {
    throw InvalidArgument("--target", e.what());
  }
  try {
    model.student.activation = read_activation(p.text("activation"));
  } catch (const numerics::SyntaxError& e) {
    throw InvalidArgument("--activation", e.what());
  }
  if (model.target->outputs() > 1) {
    throw InvalidArgument("--target", "has a matrix as output; allowed: a target of one output");
  }
  model.student.kind = StudentKind::tied;
  model.student.link = tied_link(model.student.activation, count);
  model.loss = read_loss(p);
  return model;
}

GainOptions read_gain(const Parameters& p) {
  GainOptions options;
  options.sgd = read_sgd(p);
  options.sgd.steps = static_cast<std::uint64_t>(whole_steps(p));
  for (const auto policy : {RatePolicy::sqrt, RatePolicy::linear, RatePolicy::optimal}) {
    if (p.text("policy") == to_string(policy)) options.policy = policy;
  }
  return options;
}

void add_exponent(const std::vector<double>& tokens, const std::vector<Estimate>& gains,
                  const std::string& name, Result& result) {
  if (result.status == ResultStatus::refused) return;
  result.summary.emplace_back(name, power_law(tokens, gains).value_or(no_estimate));
}

Result run_gain(const Parameters& p, const Context& context) {
  const GainOptions options = read_gain(p);
  const auto& list = p.reals("tokens");
  for (const double tokens : list) (void)tied_model(p, tokens);
  Result result;
  result.table = Table(gain_columns());
  std::vector<double> tokens;
  std::vector<double> tokens_ode;
  std::vector<Estimate> gains;
  std::vector<Estimate> gains_ode;
  bool complete = true;
  keep_rows(result, [&] {
    for (std::size_t i = 0; i < list.size(); ++i) {
      context.report(static_cast<double>(i) / static_cast<double>(list.size()), "runs");
      const Gain gain = untied_over_tied(tied_model(p, list[i]), options, context);
      result.table.add_row({static_cast<std::int64_t>(list[i]), cell(gain.steps_tied),
                            cell(gain.steps_untied), cell(gain.gain), cell(gain.gain_ode),
                            gain.rate_tied, gain.rate_untied});
      complete = complete && gain.complete;
      if (gain.gain) {
        tokens.push_back(list[i]);
        gains.push_back(*gain.gain);
      }
      if (gain.gain_ode) {
        tokens_ode.push_back(list[i]);
        gains_ode.push_back(*gain.gain_ode);
      }
    }
    if (!complete) {
      result.status = ResultStatus::unconverged;
      result.reason = "some runs did not reach the level within --steps; their rows have no gain";
    }
  });
  judge_tolerance(p, "gain", "more --runs would help", result);
  add_exponent(tokens, gains, "exponent", result);
  add_exponent(tokens_ode, gains_ode, "exponent_ode", result);
  result.summary.emplace_back("policy", p.text("policy"));
  return result;
}

Cost gain_cost(const Parameters& p) {
  const GainOptions options = read_gain(p);
  Cost cost;
  cost.method =
      "First passages of the exact chains of both students, and of the flow at large d. The "
      "exponent "
      "is the slope of log(gain) against log(tokens), weighted by the errors.";
  for (const double tokens : p.reals("tokens")) {
    const double steps = options.sgd.steps > 0 ? static_cast<double>(options.sgd.steps)
                                               : 3.0 * options.sgd.dim / options.sgd.rate * tokens;
    cost.core_seconds +=
        0.05 * tokens + steps * static_cast<double>(options.sgd.runs) * (tokens + 4.0) * 1.2e-8;
  }
  cost.memory_bytes = 100e6;
  return cost;
}

}  // namespace

Verb gain_verb() {
  PlainVerb verb;
  verb.family = "ssi";
  verb.name = "gain";
  verb.summary = "how many more samples untied weights need than tied ones, against the tokens";
  verb.details =
      "A tied student has one weight vector for all tokens, an untied one a vector per token. The "
      "gain is the ratio of the mean numbers of steps after which their overlaps reach --level, by "
      "the exact chains. It depends on the learning rates: --policy says how that of the tied "
      "student "
      "follows from --rate, which is that of the untied one. The flow at large d gives the "
      "exponents 1 (equal) and, at small rates, 1.5 (sqrt) and 2 (linear).";
  verb.parameters = {
      make_parameter("tokens", ParameterKind::reals, std::vector<double>{2, 4, 8}, 1, max_tokens,
                     "Numbers of tokens L, a comma list."),
      make_word(
          "policy", {"equal", "sqrt", "linear", "optimal"},
          "Rate of the tied student: --rate, sqrt(L) times it, L times it, or each its best."),
      make_text("target", std::string("H2sum"), "Target, as in ssi sie."),
      make_text("activation", std::string("relu"), "Activation, as in ssi sie."),
      loss_parameter(Loss::half_squared)};
  for (Parameter& x : sgd_parameters()) {
    if (x.name == "start") {
      x.fallback = std::string("overlapped");
      x.text = "overlapped: every m_i = 1/sqrt(d); random: uniform on the sphere; zero: m = 0.";
    }
    verb.parameters.push_back(std::move(x));
  }
  verb.parameters.push_back(
      make_parameter("steps", ParameterKind::real, 0.0, 0.0, 1e15,
                     "Steps of a run at most; 0: 50 times those of the flow."));
  verb.columns = gain_columns();
  verb.primary = "gain";
  verb.default_tol = 0.0;
  verb.examples = {
      "ssi gain --tokens 2,4,8 --policy equal --dim 1000 --rate 0.05 --level 0.3",
      "ssi gain --tokens 2,4,8,16 --policy linear --rate 0.002 --loss squared --runs 64"};
  verb.method = 4;
  verb.cost = gain_cost;
  verb.run = run_gain;
  return to_verb(std::move(verb));
}

}  // namespace onset::ssi
