#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mha/learners/hull/support_check.hpp"
#include "mha/learners/phase_run.hpp"
#include "mha/learners/polish/usual_examples.hpp"
#include "mha/learners/refusal/hidden_cause.hpp"
#include "mha/learners/verdict/posterior_checks.hpp"

// Phase 4.

namespace onset::mha {
namespace {

constexpr double support_inflation = 2.5;      // inflation in support programs, over the least
constexpr double containing_tolerances = 8.0;  // of a slab, within which every head lies
constexpr double exact_spectrum = 1e-9;

}  // namespace

/// Whether one head explains the labels after all, though its slabs are not exact.
bool SixPhases::one_head_fits(const Spectrum& spectrum) const {
  const Subset few = head_of(train_, fit_examples(train_, 1));
  const FitOutcome fit = fit_usual(few, {spectrum.hull(1).base}, {}, zero_residual, context_);
  return usual_residual(fit.layer) <= zero_residual;
}

/// Why the residuals of most rows vanish though no single head fits. With proportional projections
/// they vanish in every row.
std::string SixPhases::blind_reason() const {
  if (train_.tokens() == train_.dim() + 1) {
    return fmt::format(
        "k-1 = d: with {} tokens of dimension {} some attention explains every label, whatever the "
        "heads do, so residuals are blind",
        train_.tokens(), train_.dim());
  }
  const std::vector<double> scores = row_scores(train_, w_, context_);
  const double left = residual_of_rows(train_, w_, smallest_rows(scores, scores.size()));
  if (left <= agreeing_rows * label_size_) {
    return "proportional projections: every row looks as if all heads agreed, yet no single head "
           "fits, so residuals are blind";
  }
  return "heads that attend alike in most rows, as saturated or nearly equal ones do, yet no "
         "single head fits: too few rows show where they differ";
}

/// The heads that the spectrum shows, or that were asked for.
int SixPhases::count_heads(const Spectrum& spectrum, PhaseReport& entry) {
  const std::vector<double>& ratios = out_.evidence.ratios;
  const double largest = *std::max_element(ratios.begin(), ratios.end());
  const bool blind =
      all_rows_agree_ && spectrum.smallest() > exact_spectrum && !one_head_fits(spectrum);
  const bool without_gap = options_.heads == 0 && largest < visible_gap;
  if (blind || without_gap) {
    entry.gap = largest;
    finish(entry);
  }
  if (blind) throw Refusal{blind_reason()};
  if (without_gap) {
    throw Refusal{fmt::format("{}; no singular gap (largest ratio {:.2f}, {:.0f} wanted)",
                              hidden_cause(train_, held_, context_), largest, min_gap)};
  }
  return options_.heads > 0 ? options_.heads : spectrum.heads();
}

void SixPhases::find_hull() {
  const Body all = make_body(train_, slabs_, slabs_.size());
  const Spectrum spectrum(all);
  Evidence& evidence = out_.evidence;
  evidence.ratios = spectrum.ratios();
  evidence.hull_slabs = certified_slabs(train_, slabs_);
  evidence.hull_w = flat(w_);
  PhaseReport entry{4, "affine hull", slabs_.size()};
  out_.heads = count_heads(spectrum, entry);
  require_counting(out_.heads);
  hull_ = spectrum.hull(out_.heads);
  out_.knowledge.hull_base = {hull_.base.begin(), hull_.base.end()};
  out_.knowledge.hull_directions = flat(hull_.directions);
  evidence.gap = spectrum.gap(out_.heads);
  entry.gap = evidence.gap;
  evidence.hull_bound = spectrum.distance_bound(out_.heads, support_inflation * evidence.inflation);
  entry.violations = violations(hull_.base);
  if (evidence.inflation > 0.0 && out_.heads > 1) {
    const SupportCheck support =
        check_support(body_, support_inflation * evidence.inflation, hull_, context_);
    if (support.solved) {
      evidence.support_along = support.along;
      evidence.support_across = support.across;
      evidence.support_sine = support.sine;
    }
  }
  finish(entry);
}

double SixPhases::violations(const Vector& theta) const {
  if (all_rows_agree_) return 0.0;
  std::size_t count = 0;
  for (const Slab& slab : slabs_) {
    const double off = std::abs(slab_value(train_, slab, theta.data()) - slab.centre);
    count += off > containing_tolerances * slab.tolerance ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(slabs_.size());
}

}  // namespace onset::mha
