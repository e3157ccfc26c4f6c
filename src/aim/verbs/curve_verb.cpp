#include <algorithm>
#include <cmath>
#include <string>

#include "aim/verbs/aim_verbs.hpp"
#include "aim/verbs/model_options.hpp"
#include "core/plain_verb.hpp"
#include "onset/aim/limits/curve.hpp"

namespace onset::aim {
namespace {

/// Tolerances of mmse without --tol: rules without randomness, and sampled tables.
constexpr double exact_tolerance = 1e-9;
constexpr double sampled_tolerance = 5e-3;

bool is_sampled(const Parameters& p) {
  return p.text("channel") == "hardmax" && p.integer("tokens") > 2;
}

bool is_tabulated(const Parameters& p) {
  return p.integer("tokens") <= max_table_tokens;
}

std::vector<Column> curve_columns() {
  return {{"alpha", alpha_meaning, "", false},
          {"q", "overlap Tr(S S_hat)/d with the truth", "", true},
          {"qhat",
           "precision of the matrix as the labels show it, 1/Delta; over rho with --rho 0; empty "
           "at perfect recovery, where it is infinite",
           "precision", true},
          {"mmse", "least possible ||S - S_hat||_F^2/d; 1 without data", "", true},
          {"converged", "whether the fixed point was found to rounding", "", false}};
}

std::vector<Cell> curve_row(const CurvePoint& p) {
  const Cell qhat = std::isfinite(p.conjugate.value) ? Cell(p.conjugate) : Cell();
  return {p.alpha, p.overlap, qhat, p.mmse, p.status.converged()};
}

Result run_curve(const Parameters& p, const Context& context) {
  Result result;
  result.table = Table(curve_columns());
  const double tolerance = p.real("tol");
  bool converged = true;
  double worst = 0.0;
  const auto seed = static_cast<std::uint64_t>(p.integer("seed"));
  for (const CurvePoint& point : bayes_curve(read_model(p), p.reals("alpha"), seed, context)) {
    result.table.add_row(curve_row(point));
    converged = converged && point.status.converged();
    worst = std::max(worst, point.mmse.error);
  }
  if (!converged) {
    result.reason = "some rows did not converge";
  } else if (worst > tolerance) {
    result.reason = "the asked tolerance " + to_text(Value(tolerance)) + " was not reached" +
                    (is_sampled(p) ? ": hardmax of three tokens and more has a sampled table" : "");
  }
  if (!result.reason.empty()) result.status = ResultStatus::unconverged;
  return result;
}

Cost curve_cost(const Parameters& p) {
  Cost cost;
  cost.method =
      "Fixed points of state evolution as a curve with the noise Delta = 1/qhat as its parameter: "
      "mmse(Delta) from the spectrum of S plus Gaussian noise (double-exponential quadrature), "
      "alpha(Delta) explicit; every alpha is one bracketed root.";
  cost.core_seconds = 2e-3 * static_cast<double>(p.reals("alpha").size());
  cost.memory_bytes = 1e6;
  if (p.text("channel") == "hardmax" && !is_sampled(p)) {
    cost.method += " The channel by a trapezoid rule in two dimensions, once for all alphas.";
    cost.core_seconds += 0.3;
  } else if (is_sampled(p)) {
    cost.method += is_tabulated(p) ? " The channel from a table that was sampled once."
                                   : " The channel by Gibbs sampling, once for all alphas.";
    const auto tokens = static_cast<double>(p.integer("tokens"));
    if (!is_tabulated(p)) cost.core_seconds += 0.5 * tokens * tokens;
  }
  return cost;
}

}  // namespace

Verb curve_verb() {
  PlainVerb verb;
  verb.family = "aim";
  verb.name = "curve";
  verb.summary = "how well a full-width attention matrix can be learned, against the sample ratio";
  verb.details =
      "Attention-indexed model: n = alpha d^2 samples of T Gaussian tokens, labels made from the "
      "scores x_a^T S x_b, S = W W^T/sqrt(r d) with W of size d x r, r = rho d. State evolution of "
      "the Bayes-optimal setting at every sample ratio alpha = n/d^2 (with --rho 0, the limit of "
      "small widths, alpha = n/(d r)): overlap q, precision qhat and the least possible error mmse "
      "= ||S - S_hat||_F^2/d, exactly 0 above perfect recovery. The tolerance is for mmse.";
  verb.parameters = limit_parameters();
  verb.parameters.push_back(alpha_parameter());
  verb.columns = curve_columns();
  verb.primary = "mmse";
  verb.default_tol = exact_tolerance;
  verb.tol_for = [](const Parameters& p) {
    return is_sampled(p) ? sampled_tolerance : exact_tolerance;
  };
  verb.examples = {"aim curve --channel softmax --tokens 2 --rho 0.5 --alpha 0.01:0.2:0.01",
                   "aim curve --channel hardmax --tokens 2 --rho 0.5 --alpha log:0.01:10:40",
                   "aim curve --channel linear --tokens 3 --noise 0.1 --alpha log:0.01:1:20",
                   "aim curve --channel hardmax --rho 0 --alpha 0.1:2:0.1"};
  verb.cost = curve_cost;
  verb.run = run_curve;
  return to_verb(std::move(verb));
}

}  // namespace onset::aim
