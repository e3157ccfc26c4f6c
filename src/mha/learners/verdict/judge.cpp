#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mha/learners/phase_run.hpp"
#include "mha/learners/polish/usual_examples.hpp"
#include "mha/learners/refusal/hidden_cause.hpp"
#include "mha/learners/verdict/label_agreement.hpp"

namespace onset::mha {
namespace {

/// Where residuals are zero, a single example may be off by this, relative to the outputs.
constexpr double agreeing_example = 5e-10;
/// Relative singular values below this are rounding, and what they belong to is dependent.
constexpr double min_independence = 1e-8;
constexpr std::size_t enough_repeats = 10;
/// Labels of repeated examples differ by 1.4 times the noise, in units of the residual,
constexpr double noisy_difference = 0.5;
/// and by far less where something else is left.
constexpr double exact_difference = 0.01;
/// A layer that leaves nothing but noise leaves 0.7 of that difference, or somewhat more where it
/// was fitted to few examples.
constexpr double of_scatter = 2.0;

}  // namespace

void SixPhases::compare_with_all() {
  const double tolerance = std::max(agreeing_example, max_over_noise * usual_residual_);
  const Agreement all = agreement_of(out_.layer, *train_.examples, tolerance, context_);
  out_.residual_all = all.residual;
  out_.disagreeing = all.disagreeing;
  out_.first_disagreeing = all.first;
}

/// The relative residual that exact labels, or label noise as the best rows allow it, may leave.
double SixPhases::explained() const {
  return std::max(zero_residual, max_over_noise * noise_bound_ / label_size_);
}

/// What a layer leaves of the held-out labels, without a few that are off by far more than the
/// others: wrong labels are counted, and do not make the layer wrong.
double SixPhases::usual_residual(const Layer& layer) const {
  return relative_residual(usual_examples(held_, layer, max_over_noise, context_), layer, context_);
}

/// Whether single examples can be judged: geometry alone is off by more on some examples than on
/// others, which says nothing about labels.
bool SixPhases::judges_single_examples() const {
  return options_.polish || usual_residual_ <= zero_residual;
}

std::string SixPhases::disagreement() const {
  return fmt::format(
      "{} of {} examples have labels that the layer found does not give, the first of them is "
      "example {}: wrong labels, or labels of no such layer",
      out_.disagreeing, train_.examples->count, out_.first_disagreeing);
}

/// Why the polish leaves a residual; examples that occur twice tell noise from other causes.
std::string SixPhases::leftover_cause() const {
  if (single_precision_) return "labels are rounded to float32; write Y.npy as float64";
  const Repeats repeats = compare_repeats(*train_.examples, max_over_noise * usual_residual_);
  const bool known = repeats.count >= enough_repeats;
  if (known && repeats.difference > noisy_difference * usual_residual_) {
    return fmt::format("labels are noisy: those of {} repeated examples differ by {:.2g}",
                       repeats.count, repeats.difference);
  }
  const bool little_noise = known && repeats.difference < exact_difference * usual_residual_;
  const double nothing_else =
      std::max(zero_residual, little_noise ? of_scatter * repeats.difference : 0.0);
  if (const auto more = one_more_head(train_, held_, out_.layer, nothing_else, context_)) {
    return fmt::format("a weaker head is missing: {} heads leave {:.2g}{}; `heads = {}` finds them",
                       out_.layer.heads + 1, *more,
                       *more > zero_residual ? ", as label noise does" : "", out_.layer.heads + 1);
  }
  if (!little_noise) return "label noise, weaker heads, or labels of no such layer";
  return fmt::format(
      "weaker heads, or labels of no such layer; not label noise, for the labels of {} repeated "
      "examples differ by {:.2g} only",
      repeats.count, repeats.difference);
}

std::string SixPhases::missing_certificates() const {
  const Evidence& e = out_.evidence;
  std::string missing;
  const auto add = [&missing](const std::string& text) {
    missing += (missing.empty() ? "" : "; ") + text;
  };
  // A residual that a few examples have by themselves is said with their number.
  if (usual_residual_ > zero_residual) {
    add(options_.polish
            ? fmt::format("held-out residual {:.2g}: {}", usual_residual_, leftover_cause())
            : fmt::format("held-out residual {:.2g} of the geometry; the polish was not asked for",
                          usual_residual_));
  }
  if (out_.disagreeing > 0 && judges_single_examples()) add(disagreement());
  if (e.gap < min_gap) {
    add(fmt::format("singular gap {:.2f} below {:.0f}: the number of heads is not certified", e.gap,
                    min_gap));
  }
  const int unknowns = out_.layer.heads * out_.layer.dim * out_.layer.dim;
  if (out_.layer.heads != out_.heads) {
    add(fmt::format("{} of {} heads merged or vanished", out_.heads - out_.layer.heads,
                    out_.heads));
  } else if (e.jacobian_rank < unknowns) {
    add(fmt::format("the Jacobian has rank {} of {}: not locally unique", e.jacobian_rank,
                    unknowns));
  }
  if (!(e.features_smallest >= min_independence)) {
    add("the heads' features are linearly dependent: w is not unique");
  }
  if (e.slabs_violated > 0 || e.slabs_proved == 0) {
    add(fmt::format("{} of {} posterior slabs violated", e.slabs_violated, e.slabs_proved));
  }
  if (e.gap >= min_gap && e.posterior_gap < min_gap) {
    add(fmt::format("singular gap {:.2f} of the posterior slabs below {:.0f}", e.posterior_gap,
                    min_gap));
  }
  if (!(e.off_the_heads >= min_independence)) {
    add("the posterior slabs leave more free than the heads");
  }
  if (out_.heads > 1 && e.rejected.rows.empty()) {
    add("the linear program does not reject a wrong tuple of heads");
  }
  return missing;
}

void SixPhases::judge() {
  // A layer whose projections cancel hides its heads from phases 1 to 5: that least squares fits
  // one all the same does not make it an answer of theirs.
  if (const auto cancelling = cancelling_reason(out_.layer)) throw Refusal{*cancelling};
  compare_with_all();
  if (usual_residual_ > max_residual || (options_.polish && usual_residual_ > explained())) {
    throw Refusal{fmt::format(
        "{}; heads that were found: {}, singular gap {:.3g}, which leave {:.2g} of the held-out "
        "labels, more than label noise can explain (best rows allow {:.2g})",
        hidden_cause(train_, held_, context_), out_.heads, out_.evidence.gap, usual_residual_,
        noise_bound_ / label_size_)};
  }
  if (2 * out_.disagreeing > train_.examples->count && judges_single_examples()) {
    throw Refusal{disagreement()};
  }
  out_.reason = missing_certificates();
  out_.verdict = out_.reason.empty() ? Verdict::certified : Verdict::recovered;
}

}  // namespace onset::mha
