#include <algorithm>
#include <string>

#include "aim/verbs/aim_verbs.hpp"
#include "aim/verbs/model_options.hpp"
#include "core/plain_verb.hpp"
#include "onset/aim/limits/hardmax.hpp"
#include "onset/aim/limits/thresholds.hpp"

namespace onset::aim {
namespace {

/// Of alpha, relative above 1; the first for sampled tables.
constexpr double sampled_tolerance = 5e-3;
constexpr double exact_tolerance = 1e-9;

std::vector<Column> threshold_columns() {
  return {{"kind",
           "weak: the estimate becomes better than none (only in the limit of small widths); "
           "two-bands: the spectrum that the denoiser sees splits in two (rho < 1); perfect: S is "
           "known exactly",
           "", false},
          {"alpha", alpha_meaning, "", true}};
}

/// Why there is no row, for people.
void add_notes(const AttentionIndexed& model, const Thresholds& found, Result& result) {
  if (found.sum) {
    result.notes.push_back(
        "No perfect recovery of the layers: labels show only their sum, which "
        "is known exactly from alpha = " +
        to_text(Value(found.sum->value)) + " on; 1 - 1/" + std::to_string(model.layers) +
        " of each layer's variance is left.");
  } else if (!found.perfect && model.channel == ChannelKind::hardmax) {
    result.notes.push_back(std::string("No perfect recovery: with hardmax labels the error falls "
                                       "like alpha^-") +
                           (model.published.density ? "1, with this output function," : "2") +
                           " and is never 0.");
  } else if (!found.perfect) {
    result.notes.push_back("No perfect recovery: noise leaves an error at every alpha.");
  }
  if (!found.weak && model.prior == PriorKind::wishart) {
    result.notes.push_back(
        "No weak threshold at rho > 0: the first samples help. --rho 0 is the limit of small "
        "widths.");
  }
}

Result run_thresholds(const Parameters& p, const Context& context) {
  Result result;
  result.table = Table(threshold_columns());
  const AttentionIndexed model = read_model(p);
  const Thresholds found =
      thresholds(model, static_cast<std::uint64_t>(p.integer("seed")), context);
  const auto add = [&](const char* kind, const std::optional<Estimate>& alpha) {
    if (!alpha) return;
    result.table.add_row({std::string(kind), *alpha});
    if (alpha->error > p.real("tol") * std::max(1.0, alpha->value)) {
      result.status = ResultStatus::unconverged;
      result.reason = "the asked tolerance " + to_text(Value(p.real("tol"))) + " was not reached";
    }
  };
  add("weak", found.weak);
  add("two-bands", found.two_bands);
  add("perfect", found.perfect);
  add_notes(model, found, result);
  return result;
}

Cost thresholds_cost(const Parameters& p) {
  const bool sampled = p.text("channel") == "hardmax" && p.integer("tokens") > max_table_tokens;
  const auto tokens = static_cast<double>(p.integer("tokens"));
  return {
      "Closed forms: counting for perfect recovery, the spectrum's own boundary for two bands, "
      "the transition of the largest eigenvalue for weak recovery; hardmax needs one number of "
      "its channel, by quadrature (two tokens), from a table or sampled.",
      sampled ? 0.5 * tokens * tokens : 0.3, 1e6};
}

}  // namespace

Verb thresholds_verb() {
  PlainVerb verb;
  verb.family = "aim";
  verb.name = "thresholds";
  verb.summary = "when a full-width attention matrix starts to be learned, and is known exactly";
  verb.details =
      "Sharp thresholds of the attention-indexed model in the sample ratio alpha = n/d^2 (samples "
      "over dimension squared); with --rho 0, the limit of small widths, alpha = n/(d r). See aim "
      "curve for the model. A threshold that does not exist has no row. The tolerance is for "
      "alpha, and relative to it above 1.";
  verb.parameters = limit_parameters();
  verb.columns = threshold_columns();
  verb.primary = "alpha";
  verb.default_tol = exact_tolerance;
  verb.tol_for = [](const Parameters& p) {
    const bool sampled = p.text("channel") == "hardmax" && p.integer("tokens") > 2;
    return sampled ? sampled_tolerance : exact_tolerance;
  };
  verb.examples = {"aim thresholds --channel softmax --tokens 2 --rho 0.5",
                   "aim thresholds --channel hardmax --tokens 2 --rho 0",
                   "aim thresholds --channel linear --tokens 3 --rho 0.1 --format json"};
  verb.cost = thresholds_cost;
  verb.run = run_thresholds;
  return to_verb(std::move(verb));
}

}  // namespace onset::aim
