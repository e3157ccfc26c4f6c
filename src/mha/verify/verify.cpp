#include "mha/verify/verify.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mha/verify/parts.hpp"

namespace onset::mha {
namespace {

constexpr double zero_residual = 1e-10;
/// The bound for all examples, most of which the fit did not see; it is a little wider than for
/// held-out ones.
constexpr double zero_everywhere = 1e-9;
/// A single example may be off by this, relative to the size of the outputs.
constexpr double agreeing_example = 5e-10;
/// Where labels are noisy, one example may be off by this many times what noise explains, and so
/// may all of them together.
constexpr double max_over_noise = 10.0;
/// A layer that leaves more of the labels is no answer,
constexpr double max_residual = 0.2;
/// nor is one whose projections sum to less than this share of the largest.
constexpr double vanishing_projection = 0.05;
/// Bounds below this share of the labels are no proof: multipliers are orthogonal to rounding only.
constexpr double min_rejection = 1e-5;
constexpr double min_gap = 3.0;
/// Gaps above this come from residuals at the level of rounding.
constexpr double exact_gap = 1e4;
/// What is left of a singular value that vanishes depends on the machine, within this factor,
constexpr double exact_spread = 100.0;
/// and counts as 1e-15 of the largest one if it is less, so that no gap is above this.
constexpr double largest_gap = 1.000001e15;
/// Residuals below this are rounding, which depends on the machine.
constexpr double rounding = 1e-14;
/// Numbers that are not mere rounding must agree to this.
constexpr double agreement = 1e-5;
/// The bound that Clp gives and the one that its multipliers prove must agree to this.
constexpr double proof_agreement = 1e-4;
/// Relative singular values below this are rounding, and what they belong to is dependent.
constexpr double min_independence = 1e-8;
constexpr int usual_exponent = 10;

bool agree(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::min(std::abs(a), std::abs(b)) + rounding;
}

bool same_gap(double found, double claimed) {
  if (std::min(found, claimed) <= exact_gap) return agree(found, claimed, agreement);
  return claimed <= largest_gap && claimed <= exact_spread * found &&
         found <= exact_spread * claimed;
}

/// Labels and projections in units in which no square overflows or vanishes; the scaling is exact.
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
  for (double& value : in.certificate.counted.w) value = std::ldexp(value, -exponent);
  in.certificate.rejected.bound = std::ldexp(in.certificate.rejected.bound, -exponent);
  return in;
}

double label_size(const Examples& examples) {
  double sum = 0.0;
  for (const double y : examples.y) sum += y * y;
  return std::sqrt(sum / static_cast<double>(examples.y.size()));
}

/// Collects checks, and with them the verdict that the examples allow, whatever is claimed.
class Judge {
 public:
  explicit Judge(Verdict claimed) : claims_certified_(claimed == Verdict::certified) {}

  /// Adds a check of something that the file says and that must be so.
  void confirm(const char* name, double value, double bound, bool holds) {
    checks_.push_back({name, value, bound, holds});
  }
  /// Adds a check that a number of the file was found again; a certificate also requires that it be
  /// good enough.
  void compare(const char* name, double value, double claimed, bool same, double bound,
               bool enough) {
    confirm(name, value, claims_certified_ ? bound : claimed,
            same && (enough || !claims_certified_));
    certified_ = certified_ && enough;
  }
  /// Adds a check that only a certificate needs, and for which the file has no number.
  void ask(const char* name, double value, double bound, bool enough) {
    if (claims_certified_) confirm(name, value, bound, enough);
    certified_ = certified_ && enough;
  }
  /// Refuses any answer when something is wrong.
  void refuse_if(bool wrong) { refused_ = refused_ || wrong; }
  /// Adds a check without which any answer is refused.
  void demand(const char* name, double value, double bound, bool holds) {
    confirm(name, value, bound, holds);
    refuse_if(!holds);
  }

  [[nodiscard]] Verdict verdict() const {
    if (refused_) return Verdict::refused;
    return certified_ ? Verdict::certified : Verdict::recovered;
  }
  [[nodiscard]] const std::vector<Check>& checks() const { return checks_; }

 private:
  bool claims_certified_;
  bool certified_ = true;
  bool refused_ = false;
  std::vector<Check> checks_;
};

void judge_identity(const Certificate& certificate, const Model& model, const Examples& examples,
                    Judge& judge) {
  const auto confirm = [&judge](const char* name, bool same) {
    judge.confirm(name, same ? 1.0 : 0.0, 1.0, same);
  };
  confirm("same examples",
          certificate.count == examples.count && certificate.tokens == examples.tokens &&
              certificate.dim == examples.dim && certificate.inputs == examples.inputs() &&
              certificate.digest == digest_of(examples));
  confirm("same layer", certificate.layer_digest == digest_of(model.layer));
  confirm("same geometry", certificate.geometry_digest == digest_of(model.geometry));
}

void judge_residuals(const Certificate& certificate, const Model& model, const Examples& examples,
                     const Context& context, Judge& judge) {
  const double held = verifier::relative_residual(model.layer, examples, certificate.held_out);
  judge.compare("residual, held out", held, certificate.residual,
                agree(held, certificate.residual, agreement), zero_residual, held <= zero_residual);
  // A few labels that are far off are counted below, and do not make the layer wrong.
  const double usual = verifier::relative_residual(
      model.layer, examples,
      verifier::without_far_off(model.layer, examples, certificate.held_out, max_over_noise,
                                agreeing_example));
  judge.refuse_if(!(usual <= max_residual));
  const double geometry =
      verifier::relative_residual(model.geometry, examples, certificate.held_out);
  judge.confirm("residual, geometry", geometry, certificate.geometry_residual,
                agree(geometry, certificate.geometry_residual, agreement));
  std::vector<std::uint32_t> all(examples.count);
  std::iota(all.begin(), all.end(), 0U);
  const double everywhere = verifier::relative_residual(model.layer, examples, all);
  judge.compare("residual, all", everywhere, certificate.residual_all,
                agree(everywhere, certificate.residual_all, agreement), zero_everywhere,
                everywhere <= zero_everywhere);
  context.check();
  const std::size_t off = verifier::labels_not_given(
      model.layer, examples, std::max(agreeing_example, max_over_noise * usual));
  judge.compare("labels not given", static_cast<double>(off),
                static_cast<double>(certificate.disagreeing), off == certificate.disagreeing, 0.0,
                off == 0);
  // Geometry alone is off by more on some examples than on others, which says nothing about labels.
  const bool polished = certificate.layer_digest != certificate.geometry_digest;
  judge.refuse_if((polished || usual <= zero_residual) && 2 * off > examples.count);
  if (polished && usual > zero_residual) {
    const double noise = verifier::noise_bound(certificate, examples, context);
    judge.demand("residual over noise", usual / noise, max_over_noise,
                 usual <= max_over_noise * noise);
  }
}

/// Examples that may give slabs: those that repeat no other and are not held out.
std::vector<bool> looked_at(std::vector<bool> distinct,
                            const std::vector<std::uint32_t>& held_out) {
  for (const std::uint32_t n : held_out) distinct[n] = false;
  return distinct;
}

/// Demands that a list has the slabs that the examples give. Singular gaps grow and fall with what
/// is left out, so that a list that its author may choose shows nothing.
void demand_all(const char* name, const verifier::SlabChoice& choice, Judge& judge) {
  const auto off = static_cast<double>(choice.lacking + choice.wrong);
  judge.demand(name, off, 0.0, off == 0.0);
}

/// Checks the gap with which heads were counted. Where rounding alone decides which slabs are the
/// best, those found here must show it as well as those listed.
void judge_counted(const CountedHeads& counted, const Examples& examples,
                   const std::vector<bool>& looked, const Context& context, Judge& judge) {
  const verifier::SlabChoice choice =
      verifier::slab_choice(counted.slabs, counted.w, examples, looked, context);
  demand_all("slabs left out, counted", choice, judge);
  const double gap = verifier::counted_gap(counted, counted.slabs, examples, context);
  const double least =
      choice.same ? gap
                  : std::min(gap, verifier::counted_gap(counted, choice.best, examples, context));
  judge.compare("singular gap, counted", least, counted.gap, same_gap(gap, counted.gap), min_gap,
                least >= min_gap);
}

void judge_heads(const Certificate& certificate, const Model& model, const Examples& examples,
                 const std::vector<bool>& looked, const Context& context, Judge& judge) {
  const Layer& layer = model.layer;
  const double sum = verifier::sum_over_largest(layer);
  judge.demand("sum of projections", sum, vanishing_projection, sum >= vanishing_projection);
  judge_counted(certificate.counted, examples, looked, context, judge);
  judge.ask("heads counted", certificate.counted.heads, layer.heads,
            certificate.counted.heads == layer.heads);
  const int rank = verifier::jacobian_rank(layer, examples, certificate.held_out, context);
  const int unknowns = layer.heads * layer.dim * layer.dim;
  judge.compare("rank of the Jacobian", rank, certificate.jacobian_rank,
                rank == certificate.jacobian_rank, unknowns, rank == unknowns);
  const bool canonical = verifier::is_canonical(layer);
  judge.confirm("canonical form", canonical ? 1.0 : 0.0, 1.0, canonical);
  const double features = verifier::features_smallest(layer, examples);
  judge.ask("independent features", features, min_independence, features >= min_independence);
}

/// The worse of two sets of facts, number by number.
verifier::SlabFacts worse(const verifier::SlabFacts& a, const verifier::SlabFacts& b) {
  return {std::min(a.proved, b.proved), std::max(a.violated, b.violated), std::min(a.gap, b.gap),
          std::min(a.off_the_heads, b.off_the_heads)};
}

void judge_slabs(const Certificate& certificate, const Layer& layer, const Examples& examples,
                 const std::vector<bool>& looked, const Context& context, Judge& judge) {
  const verifier::SlabChoice choice = verifier::slab_choice(
      certificate.slabs, verifier::sum_of_projections(layer), examples, looked, context);
  demand_all("posterior slabs left out", choice, judge);
  const verifier::SlabFacts facts =
      verifier::slab_facts(certificate.slabs, layer, examples, context);
  // Where rounding alone decides which slabs are the best, those found here count as well.
  const verifier::SlabFacts both =
      choice.same ? facts
                  : worse(facts, verifier::slab_facts(choice.best, layer, examples, context));
  judge.compare("posterior slabs proved", facts.proved, certificate.slabs_proved,
                facts.proved == certificate.slabs_proved, certificate.slabs_proved,
                both.proved > 0);
  judge.compare("posterior slabs violated", both.violated, certificate.slabs_violated,
                facts.violated == certificate.slabs_violated, 0.0, both.violated == 0);
  judge.compare("singular gap", both.gap, certificate.gap, same_gap(facts.gap, certificate.gap),
                min_gap, both.gap >= min_gap);
  judge.ask("slabs, off the heads", both.off_the_heads, min_independence,
            both.off_the_heads >= min_independence);
}

/// Checks the rejected tuple; a single head has none.
void judge_tuple(const Certificate& certificate, const Layer& geometry, const Examples& examples,
                 Judge& judge) {
  const RejectedTuple& tuple = certificate.rejected;
  const int heads = certificate.counted.heads;
  if (heads == 1 && tuple.rows.empty() && tuple.bound == 0.0 && tuple.output == 0) return;
  const double proof = tuple.rows.empty() ? 0.0 : verifier::proved_bound(tuple, examples);
  judge.compare("wrong tuple rejected", proof, tuple.bound,
                agree(proof, tuple.bound, proof_agreement), tuple.bound,
                proof > min_rejection * label_size(examples));
  if (tuple.rows.empty() || geometry.heads != heads) return;
  const int kept = verifier::heads_kept(tuple, geometry);
  judge.confirm("wrong tuple, heads kept", kept, heads - 1.0, kept == heads - 1);
}

void judge_claims(const Certificate& certificate, const Model& model, const Examples& examples,
                  const Context& context, Judge& judge) {
  const std::vector<bool> distinct = verifier::first_of_orbits(examples);
  const int repeated = verifier::seen_before(distinct, certificate.held_out);
  judge.demand("held out, seen before", repeated, 0.0, repeated == 0);
  const int others = verifier::wrongly_held_out(distinct, certificate.held_out);
  judge.demand("held out, wrongly", others, 0.0, others == 0);
  context.check();
  judge_residuals(certificate, model, examples, context, judge);
  context.check();
  const std::vector<bool> looked = looked_at(distinct, certificate.held_out);
  judge_heads(certificate, model, examples, looked, context, judge);
  judge_slabs(certificate, model.layer, examples, looked, context, judge);
  judge_tuple(certificate, model.geometry, examples, judge);
}

}  // namespace

Verification verify(const Certificate& certificate, const Model& model, const Examples& examples,
                    const Context& context) {
  Judge judge(certificate.verdict);
  judge_identity(certificate, model, examples, judge);
  const bool other_shape = certificate.count != examples.count ||
                           certificate.tokens != examples.tokens || certificate.dim != examples.dim;
  // The claims are about other examples.
  if (other_shape) return {judge.checks(), Verdict::refused};
  verifier::require_sense(certificate, model, examples);
  const int exponent = label_exponent(examples);
  if (std::abs(exponent) > usual_exponent) {
    const Scaled in = scaled({certificate, model, examples}, exponent);
    judge_claims(in.certificate, in.model, in.examples, context, judge);
  } else {
    judge_claims(certificate, model, examples, context, judge);
  }
  const bool same = judge.verdict() == certificate.verdict;
  judge.confirm("same verdict", same ? 1.0 : 0.0, 1.0, same);
  return {judge.checks(), judge.verdict()};
}

}  // namespace onset::mha
