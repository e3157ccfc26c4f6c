#include "onset/mha/verify/verify.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mha/verify/parts.hpp"

namespace onset::mha {
namespace {

constexpr double zero_residual = 1e-10;
/// All examples, most of which the fit did not see; a little more than held-out ones may differ.
constexpr double zero_everywhere = 1e-9;
constexpr double least_gap = 3.0;
/// Gaps above this come from residuals at the level of rounding.
constexpr double exact_gap = 1e4;
/// Residuals below this are rounding, which depends on the machine.
constexpr double rounding = 1e-14;
/// Numbers that are no rounding agree to this.
constexpr double agreement = 1e-5;
/// What Clp gives for a bound, and what its multipliers prove.
constexpr double proof_agreement = 1e-4;
/// Relative singular values below this are rounding, and what they belong to is dependent.
constexpr double least_independence = 1e-8;
constexpr int usual_exponent = 10;

bool agree(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::min(std::abs(a), std::abs(b)) + rounding;
}

/// Labels and projections in units in which no square overflows or vanishes; exact.
struct Scaled {
  Certificate certificate;
  Model model;
  Examples examples;
};

int label_exponent(const Examples& examples) {
  double largest = 0.0;
  for (const double y : examples.y) largest = std::max(largest, std::abs(y));
  return largest > 0.0 ? std::ilogb(largest) : 0;
}

Scaled scaled(Scaled in, int exponent) {
  for (auto* values : {&in.examples.y, &in.model.layer.w, &in.model.geometry.w}) {
    for (double& value : *values) value = std::ldexp(value, -exponent);
  }
  in.certificate.rejected.bound = std::ldexp(in.certificate.rejected.bound, -exponent);
  return in;
}

void check_residuals(const Certificate& certificate, const Model& model, const Examples& examples,
                     std::vector<Check>& checks) {
  const bool exact = certificate.verdict == Verdict::certified;
  const double held = verifier::relative_residual(model.layer, examples, certificate.held_out);
  checks.push_back(
      {"residual, held out", held, exact ? zero_residual : certificate.residual,
       agree(held, certificate.residual, agreement) && (!exact || held <= zero_residual)});
  const double geometry =
      verifier::relative_residual(model.geometry, examples, certificate.held_out);
  checks.push_back({"residual, geometry", geometry, certificate.geometry_residual,
                    agree(geometry, certificate.geometry_residual, agreement)});
  std::vector<std::uint32_t> all(examples.count);
  std::iota(all.begin(), all.end(), 0U);
  const double everywhere = verifier::relative_residual(model.layer, examples, all);
  checks.push_back({"residual, all", everywhere, exact ? zero_everywhere : certificate.residual_all,
                    agree(everywhere, certificate.residual_all, agreement) &&
                        (!exact || everywhere <= zero_everywhere)});
}

void check_slabs(const Certificate& certificate, const Layer& layer, const Examples& examples,
                 const Context& context, std::vector<Check>& checks) {
  const bool exact = certificate.verdict == Verdict::certified;
  const verifier::SlabFacts facts =
      verifier::slab_facts(certificate.slabs, layer, examples, context);
  checks.push_back({"posterior slabs proved", static_cast<double>(facts.proved),
                    static_cast<double>(certificate.slabs_proved),
                    facts.proved == certificate.slabs_proved && (!exact || facts.proved > 0)});
  checks.push_back(
      {"posterior slabs violated", static_cast<double>(facts.violated),
       static_cast<double>(certificate.slabs_violated),
       facts.violated == certificate.slabs_violated && (!exact || facts.violated == 0)});
  const bool both_exact = std::min(facts.gap, certificate.gap) > exact_gap;
  checks.push_back({"singular gap", facts.gap, certificate.gap,
                    (both_exact || agree(facts.gap, certificate.gap, agreement)) &&
                        (!exact || facts.gap >= least_gap)});
  if (exact) {
    checks.push_back({"slabs, off the heads", facts.off_the_heads, least_independence,
                      facts.off_the_heads >= least_independence});
  }
}

void check_same(const Certificate& certificate, const Model& model, const Examples& examples,
                std::vector<Check>& checks) {
  const auto add = [&checks](const char* name, bool same) {
    checks.push_back({name, same ? 1.0 : 0.0, 1.0, same});
  };
  add("same examples",
      certificate.count == examples.count && certificate.tokens == examples.tokens &&
          certificate.dim == examples.dim && certificate.digest == digest_of(examples));
  add("same layer", certificate.layer_digest == digest_of(model.layer));
  add("same geometry", certificate.geometry_digest == digest_of(model.geometry));
}

std::vector<Check> check_claims(const Certificate& certificate, const Model& model,
                                const Examples& examples, const Context& context) {
  const Layer& layer = model.layer;
  const bool exact = certificate.verdict == Verdict::certified;
  std::vector<Check> checks;
  const int repeated = verifier::seen_before(examples, certificate.held_out);
  checks.push_back({"held out, seen before", static_cast<double>(repeated), 0.0, repeated == 0});
  context.check();
  check_residuals(certificate, model, examples, checks);
  context.check();
  const int rank = verifier::jacobian_rank(layer, examples, context);
  checks.push_back({"rank of the Jacobian", static_cast<double>(rank),
                    static_cast<double>(certificate.jacobian_rank),
                    rank == certificate.jacobian_rank &&
                        (!exact || rank == layer.heads * layer.dim * layer.dim)});
  const bool canonical = verifier::is_canonical(layer);
  checks.push_back({"canonical form", canonical ? 1.0 : 0.0, 1.0, canonical});
  const double features = verifier::features_smallest(layer, examples);
  checks.push_back({"independent features", features, least_independence,
                    !exact || features >= least_independence});
  check_slabs(certificate, layer, examples, context, checks);
  // A single head has no wrong tuple beside it.
  const RejectedTuple& tuple = certificate.rejected;
  const double proof = tuple.rows.empty() ? 0.0 : verifier::proved_bound(tuple, examples);
  if (layer.heads > 1 || tuple.bound != 0.0 || tuple.output != 0) {
    checks.push_back({"wrong tuple rejected", proof, tuple.bound,
                      proof > 0.0 && agree(proof, tuple.bound, proof_agreement)});
    const int kept = verifier::heads_kept(tuple, model.geometry);
    checks.push_back({"wrong tuple, heads kept", static_cast<double>(kept), layer.heads - 1.0,
                      kept == layer.heads - 1});
  }
  return checks;
}

}  // namespace

std::vector<Check> verify(const Certificate& certificate, const Model& model,
                          const Examples& examples, const Context& context) {
  std::vector<Check> checks;
  check_same(certificate, model, examples, checks);
  const bool other_shape = certificate.count != examples.count ||
                           certificate.tokens != examples.tokens || certificate.dim != examples.dim;
  if (other_shape) return checks;  // the claims speak of examples that are not there
  verifier::require_sense(certificate, model, examples);
  const int exponent = label_exponent(examples);
  std::vector<Check> claims;
  if (std::abs(exponent) > usual_exponent) {
    const Scaled in = scaled({certificate, model, examples}, exponent);
    claims = check_claims(in.certificate, in.model, in.examples, context);
  } else {
    claims = check_claims(certificate, model, examples, context);
  }
  checks.insert(checks.end(), claims.begin(), claims.end());
  return checks;
}

}  // namespace onset::mha
