#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mha/learners/phase_run.hpp"
#include "mha/learners/posterior.hpp"
#include "mha/learners/tuple_certificate.hpp"
#include "onset/mha/model/canonical.hpp"

// Phases 5 and 6.

namespace onset::mha {
namespace {

constexpr double merge_tolerance = 1e-7;
constexpr double least_multiplier = 1e-9;  // less is rounding; they sum to 1
/// Bounds below this share of the labels are no proof: multipliers are orthogonal to rounding only.
constexpr double least_rejection = 1e-5;
constexpr double polish_flops = 2e10;      // a Gauss-Newton step with noisy labels
constexpr double hopeful_progress = 1e-3;  // of a step from geometry that explains little

}  // namespace

void SixPhases::find_heads() {
  const Sample small = head_of(train_, fit_examples(train_, out_.heads));
  const NetSearch net = search_net(small, hull_, out_.heads, context_);
  PhaseReport entry{5, "net and tuples", net.tuples};
  entry.violations = 0.0;
  for (const Vector& theta : net.best.front()) {
    entry.violations = std::max(*entry.violations, violations(theta));
  }
  add_tuple_certificates(net);
  finish(entry);
  const Sample wider = head_of(train_, 4 * small.size());
  out_.geometry = canonical(fit_projections(wider, net.best.front()), merge_tolerance);
  out_.geometry_residual = relative_residual(held_, out_.geometry, context_);
  PhaseReport squares{6, "least squares", wider.size()};
  squares.residual = out_.geometry_residual;
  finish(squares);
}

/// The linear program on the found tuple, and on one with a head moved to the middle of the hull:
/// that it rejects the second shows that it could have rejected the first.
void SixPhases::add_tuple_certificates(const NetSearch& net) {
  const Sample few =
      head_of(train_, std::max<std::size_t>(40, 8 * static_cast<std::size_t>(out_.heads) *
                                                    train_.dim() / train_.tokens()));
  std::vector<Vector> thetas = net.best.front();
  out_.evidence.tuple_tau = certify_tuple(few, thetas, context_).tau;
  if (thetas.size() < 2) return;
  thetas.front() = hull_.base;
  const TupleCertificate wrong = certify_tuple(few, thetas, context_);
  if (!(wrong.tau > least_rejection * label_size_)) return;
  RejectedTuple& rejected = out_.evidence.rejected;
  rejected.output = wrong.output;
  rejected.bound = wrong.tau;
  for (const Vector& theta : thetas) {
    rejected.thetas.insert(rejected.thetas.end(), theta.begin(), theta.end());
  }
  for (Index r = 0; r < wrong.multipliers.size(); ++r) {
    if (std::abs(wrong.multipliers[r]) < least_multiplier) continue;
    const auto row = static_cast<std::size_t>(r);
    rejected.rows.push_back({few.index[row / few.tokens()], static_cast<int>(row % few.tokens())});
    rejected.multipliers.push_back(wrong.multipliers[r]);
  }
}

void SixPhases::polish() {
  const Sample small = head_of(train_, fit_examples(train_, out_.heads));
  Layer layer = out_.geometry;
  if (options_.polish) {
    FitOptions options;
    if (out_.geometry_residual > most_residual) options.progress = hopeful_progress;
    FitOutcome fit = fit_layer(small, thetas_of(layer), nullptr, options, context_);
    std::size_t used = small.size();
    if (fit.residual > zero_residual && fit.residual <= most_residual) {
      // Labels are noisy, or heads are missing: the more examples the better.
      const double unknowns = static_cast<double>(out_.heads) * layer.dim * layer.dim;
      const double rows = polish_flops / (2.0 * unknowns * unknowns * layer.dim);
      const Sample large =
          head_of(train_, std::max(small.size(), static_cast<std::size_t>(rows) / train_.tokens()));
      fit = fit_layer(large, thetas_of(fit.layer), nullptr, {}, context_);
      used = large.size();
    }
    layer = fit.layer;
    out_.residual = relative_residual(held_, layer, context_);
    PhaseReport entry{6, "polish", used};
    entry.residual = out_.residual;
    finish(entry);
  } else {
    out_.residual = out_.geometry_residual;
  }
  out_.layer = canonical(layer, merge_tolerance);
  check_uniqueness(small, out_.layer, context_, out_.evidence);
  check_posterior();
}

/// Slabs once more, with the projections that were found: their agreement constants are known now.
void SixPhases::check_posterior() {
  const Matrix sum = sum_of_projections(out_.layer);
  const std::vector<Slab> slabs = sculpt(train_, sum, slabs_.size(), context_);
  check_posterior_slabs(train_, slabs, out_.layer, out_.evidence);
  if (slabs.size() <= train_.dim() * train_.dim()) return;
  const Body body = make_body(train_, slabs, slabs.size());
  out_.evidence.posterior_gap = Spectrum(body).gap(out_.layer.heads);
  out_.evidence.off_the_heads = off_the_heads(body, out_.layer);
}

}  // namespace onset::mha
