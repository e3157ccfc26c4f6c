#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mha/learners/hidden_cause.hpp"
#include "mha/learners/phase_run.hpp"
#include "mha/learners/posterior.hpp"
#include "mha/learners/tuple_certificate.hpp"
#include "onset/mha/model/canonical.hpp"

// Phases 5 and 6, and the verdict.

namespace onset::mha {
namespace {

constexpr double most_residual = 0.2;     // more of the labels is not explained
constexpr double most_over_noise = 10.0;  // residual over what the best rows allow for noise
constexpr double merge_tolerance = 1e-7;
constexpr double least_multiplier = 1e-9;  // less is rounding; they sum to 1
constexpr double polish_flops = 2e10;      // a Gauss-Newton step with noisy labels

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
    FitOutcome fit = fit_layer(small, thetas_of(layer), nullptr, {}, context_);
    std::size_t used = small.size();
    if (fit.residual > zero_residual) {
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
  out_.evidence.posterior_gap =
      Spectrum(make_body(train_, slabs, slabs.size())).gap(std::max(1, out_.layer.heads));
}

std::string SixPhases::missing_certificates() const {
  const Evidence& e = out_.evidence;
  std::string missing;
  const auto add = [&missing](const std::string& text) {
    missing += (missing.empty() ? "" : "; ") + text;
  };
  if (out_.residual > zero_residual) {
    add(options_.polish
            ? fmt::format("held-out residual {:.2g}: {}", out_.residual,
                          single_precision_
                              ? "labels are rounded to float32; write Y.npy as float64"
                              : "labels are noisy")
            : fmt::format("held-out residual {:.2g} of the geometry; the polish was not asked for",
                          out_.residual));
  }
  if (e.gap < least_gap) {
    add(fmt::format("singular gap {:.2f} below {:.0f}: the number of heads is not certified", e.gap,
                    least_gap));
  }
  const int unknowns = out_.layer.heads * out_.layer.dim * out_.layer.dim;
  if (out_.layer.heads != out_.heads) {
    add(fmt::format("{} of {} heads merged or vanished", out_.heads - out_.layer.heads,
                    out_.heads));
  } else if (e.jacobian_rank < unknowns) {
    add(fmt::format("the Jacobian has rank {} of {}: not locally unique", e.jacobian_rank,
                    unknowns));
  }
  if (e.slabs_violated > 0 || e.slabs_proved == 0) {
    add(fmt::format("{} of {} posterior slabs violated", e.slabs_violated, e.slabs_proved));
  }
  if (e.gap >= least_gap && e.posterior_gap < least_gap) {
    add(fmt::format("singular gap {:.2f} of the posterior slabs below {:.0f}", e.posterior_gap,
                    least_gap));
  }
  return missing;
}

void SixPhases::judge() {
  // A layer whose projections cancel hides its heads from phases 1 to 5: that least squares fits
  // one all the same does not make it an answer of theirs.
  if (const auto cancelling = cancelling_reason(out_.layer)) throw Refusal{*cancelling};
  const double leftover = out_.residual * label_size_;
  const bool over_noise = leftover > most_over_noise * noise_bound_;
  if (out_.residual > most_residual ||
      (options_.polish && out_.residual > zero_residual && over_noise)) {
    throw Refusal{
        fmt::format("{}; {} heads, singular gap {:.2f}, leave {:.2g} of the held-out "
                    "labels, more than label noise can explain (best rows allow {:.2g})",
                    hidden_cause(train_, held_, context_), out_.heads, out_.evidence.gap,
                    out_.residual, noise_bound_ / label_size_)};
  }
  out_.reason = missing_certificates();
  out_.verdict = out_.reason.empty() ? Verdict::certified : Verdict::recovered;
}

}  // namespace onset::mha
