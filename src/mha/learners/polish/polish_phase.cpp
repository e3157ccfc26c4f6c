#include <algorithm>

#include "mha/learners/phase_run.hpp"
#include "mha/learners/polish/usual_examples.hpp"
#include "mha/learners/verdict/posterior_checks.hpp"
#include "mha/model/canonical.hpp"

// Phase 6.

namespace onset::mha {
namespace {

constexpr double polish_flops = 2e10;      // a Gauss-Newton step with noisy labels
constexpr double hopeful_progress = 1e-3;  // progress of a step from geometry that explains little

}  // namespace

void SixPhases::polish() {
  const Subset small = head_of(train_, fit_examples(train_, out_.heads));
  Layer layer = out_.geometry;
  if (options_.polish) {
    FitOptions options;
    if (out_.geometry_residual > max_residual) options.progress = hopeful_progress;
    FitOutcome fit = fit_usual(small, thetas_of(layer), options, explained(), context_);
    std::size_t used = small.size();
    out_.evaluations += fit.layer_evaluations(used);
    if (fit.residual > zero_residual && fit.residual <= max_residual) {
      // Labels are noisy, or heads are missing, so more examples are better.
      const double unknowns = static_cast<double>(out_.heads) * layer.dim * layer.dim;
      const double rows = polish_flops / (2.0 * unknowns * unknowns * layer.dim);
      const Subset large =
          head_of(train_, std::max(small.size(), static_cast<std::size_t>(rows) / train_.tokens()));
      fit = fit_usual(large, thetas_of(fit.layer), {}, explained(), context_);
      used = large.size();
      out_.evaluations += fit.layer_evaluations(used);
    }
    layer = fit.layer;
    out_.residual = relative_residual(held_, layer, context_);
    PhaseReport entry{6, "polish", used};
    entry.residual = out_.residual;
    finish(entry);
  } else {
    out_.residual = out_.geometry_residual;
  }
  usual_residual_ = usual_residual(layer);
  out_.layer = canonical(layer, merge_tolerance);
  check_uniqueness(small, out_.layer, context_, out_.evidence);
  check_posterior();
}

/// Sculpts slabs once more with the projections that were found, whose agreement constants are now
/// known.
void SixPhases::check_posterior() {
  const Matrix sum = sum_of_projections(out_.layer);
  const std::vector<Slab> slabs =
      sculpt(train_, sum, slabs_per_unknown * train_.dim() * train_.dim(), context_);
  check_posterior_slabs(train_, slabs, out_.layer, out_.evidence);
  if (slabs.size() <= train_.dim() * train_.dim()) return;
  const Body body = make_body(train_, slabs, slabs.size());
  const Spectrum spectrum(body);
  out_.evidence.posterior_gap = spectrum.gap(out_.layer.heads);
  if (out_.evidence.gap < min_gap && usual_residual_ <= zero_residual) count_again(spectrum, sum);
  out_.evidence.off_the_heads = off_the_heads(body, out_.layer);
}

/// Heads that the refined estimate shows too faintly are counted once more with the sum of
/// projections itself. It belongs to the labels, not to the layer that was fitted: where all tokens
/// agree, labels are x W whatever the heads, and a layer that gives every label has that W. Slabs
/// depend on nothing else. A gap that is enough counts whatever is seen further up, as it does for
/// who verifies it.
void SixPhases::count_again(const Spectrum& spectrum, const Matrix& sum) {
  Evidence& evidence = out_.evidence;
  if (out_.layer.heads != out_.heads) return;
  if (spectrum.heads() != out_.heads && evidence.posterior_gap < min_gap) return;
  evidence.gap = evidence.posterior_gap;
  evidence.hull_slabs = evidence.slabs;
  evidence.hull_w = flat(sum);
}

}  // namespace onset::mha
