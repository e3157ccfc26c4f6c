#include "aim/limits/curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/limits/root_between.hpp"
#include "aim/limits/spectrum.hpp"
#include "aim/limits/tanh_sinh.hpp"
#include "numerics/parallel.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

AttentionIndexed checked(const AttentionIndexed& model) {
  model.validate();
  if (model.is_deep()) {
    throw Refused(
        "this is the state evolution of one matrix behind a label; possible: one layer, and "
        "`labels = separate`");
  }
  return model;
}

/// The relative step for the slopes with which errors are propagated; they need two digits.
constexpr double slope_step = 0.02;
constexpr double longer_chord = 4.0;
/// The relative rounding of a threshold: a sample ratio that is typed as the threshold is there.
constexpr double rounding_of_threshold = 4.0 * std::numeric_limits<double>::epsilon();

}  // namespace

StateEvolution::StateEvolution(const AttentionIndexed& model, std::uint64_t seed,
                               const Context& context)
    : model_(checked(model)),
      prior_(make_prior(model)),
      information_(model.channel->information(model, seed, context)) {}

StateEvolution::Evaluation StateEvolution::evaluate(double delta) const {
  const Prior::Point p = prior_->at(delta);
  const Estimate e = (*information_)(prior_->second_moment() - p.mmse.value, p.mmse.value);
  const double alpha = p.shrinkage.value / (2.0 * e.value);
  return {p.mmse, {alpha, alpha * (p.shrinkage.error / p.shrinkage.value + e.error / e.value)}};
}

Estimate StateEvolution::sample_ratio(double delta) const {
  return evaluate(delta).alpha;
}

double StateEvolution::perfect_recovery() const {
  const double shown = model_.noise_variance > 0.0 ? 0.0 : model_.channel->shown(model_);
  if (shown == 0.0) return std::numeric_limits<double>::infinity();
  return prior_->shrinkage_at_zero() / (2.0 * shown);
}

CurvePoint StateEvolution::at(double alpha) const {
  const double q0 = prior_->second_moment();
  const Status found{StopReason::converged, 0, 0.0};
  if (alpha == 0.0) {
    const Estimate unknown{q0 - prior_->known(), 0.0};
    CurvePoint p{alpha, {prior_->known(), 0.0}, {0.0, 0.0}, unknown, found};
    if (!model_.published.density) p.free_entropy = Estimate{0.0, 0.0};
    return per_layer(p);
  }
  if (alpha >= (1.0 - rounding_of_threshold) * perfect_recovery()) {
    const double infinite = std::numeric_limits<double>::infinity();
    return per_layer({alpha, {q0, 0.0}, {infinite, 0.0}, {0.0, 0.0}, found});
  }
  const double max_delta = prior_->max_delta();
  if (sample_ratio(max_delta).value >= alpha) {
    // Nothing is learned (small widths below weak recovery): V = 1, and q_hat follows.
    const double v = prior_->at(max_delta).mmse.value;
    const Estimate e = (*information_)(q0 - v, v);
    return point(alpha, v / (2.0 * alpha * e.value), found);
  }
  const auto residual = [&](double log_delta) {
    const double delta = std::max(std::exp(log_delta), NoisySpectrum::min_delta);
    return std::log(sample_ratio(delta).value / alpha);
  };
  // mmse <= Q_0 bounds delta from above; from below it is found by going down.
  const double max_mmse = prior_->at(max_delta).mmse.value;
  double high = std::min(
      std::log(max_delta),
      std::log(max_mmse / (2.0 * alpha * (*information_)(q0 - max_mmse, max_mmse).value)) + 1.0);
  if (residual(high) > 0.0) high = std::log(max_delta);
  const double min_log_delta = std::log(NoisySpectrum::min_delta);
  double low = std::max(min_log_delta, high - 2.0);
  while (residual(low) < 0.0) {
    // The error is less than the accuracy of the spectrum; the value given bounds it from above.
    if (low == min_log_delta) {
      return point(alpha, NoisySpectrum::min_delta, {StopReason::inaccurate, 0, 0.0});
    }
    high = low;
    low = std::max(min_log_delta, low - 4.0);
  }
  const numerics::Root root = root_between(
      residual, low, high, 4.0 * std::numeric_limits<double>::epsilon(), "the fixed point");
  return point(alpha, std::exp(root.x), root.status);
}

/// Errors of alpha(delta) become errors of mmse and q_hat through the slopes of the curve.
CurvePoint StateEvolution::point(double alpha, double delta, const Status& status) const {
  const double max_delta = prior_->max_delta();
  const double clipped = std::min(delta, max_delta);
  double up = std::min(clipped * (1.0 + slope_step), max_delta);
  const double down = std::max(clipped * (1.0 - slope_step), NoisySpectrum::min_delta);
  const Evaluation here = evaluate(clipped);
  Evaluation above = evaluate(up);
  const Evaluation below = evaluate(down);
  // Within rounding of perfect recovery both points have the same alpha. The curve is straight
  // there, so that a longer chord has the same slope.
  while (std::abs(above.alpha.value - below.alpha.value) < here.alpha.error && up < max_delta) {
    up = std::min(longer_chord * up, max_delta);
    above = evaluate(up);
  }
  const double relative_error = here.alpha.error / std::abs(above.alpha.value - below.alpha.value);
  CurvePoint p{alpha, {}, {1.0 / delta, 0.0}, here.mmse, status};
  if (delta > max_delta) {  // below weak recovery only q_hat depends on alpha
    p.conjugate.error = p.conjugate.value * here.alpha.error / here.alpha.value;
  } else {
    p.mmse.error += (above.mmse.value - below.mmse.value) * relative_error;
    p.conjugate.error = p.conjugate.value * ((up - down) / clipped * relative_error);
  }
  p.overlap = {prior_->second_moment() - here.mmse.value, p.mmse.error};
  if (!model_.published.density) p.free_entropy = free_entropy(alpha, delta, here.mmse.value);
  return per_layer(p);
}

/// Psi_out of [aim 39]: half the integral of E_hat over log V, from what is unknown without data
/// down to V. The error of a sampled E_hat is one and the same along the way.
Estimate StateEvolution::shown_by_labels(double mmse) const {
  const double q0 = prior_->second_moment();
  const double high = std::log(q0 - prior_->known());
  const double half = 0.5 * (high - std::log(mmse));
  if (!(half > 0.0)) return {0.0, 0.0};
  double fine = 0.0;
  double coarse = 0.0;
  double error = 0.0;
  for (const TanhSinhNode& rule : tanh_sinh()) {
    const double from_high = half * (rule.from_low ? rule.distance : 2.0 - rule.distance);
    const double v = std::exp(high - from_high);
    const Estimate e = (*information_)(std::max(0.0, q0 - v), v);
    fine += rule.fine_weight * e.value;
    coarse += rule.coarse_weight * e.value;
    error += rule.fine_weight * e.error;
  }
  return {0.5 * half * fine, 0.5 * half * (2.0 * std::abs(fine - coarse) + error)};
}

Estimate StateEvolution::free_entropy(double alpha, double delta, double mmse) const {
  const Estimate learned = prior_->information(delta);
  const Estimate shown = shown_by_labels(mmse);
  return {0.25 * mmse / delta - learned.value + alpha * shown.value,
          learned.error + alpha * shown.error};
}

/// The noise at which the least error is `mmse`.
double StateEvolution::delta_of(double mmse) const {
  const auto residual = [&](double log_delta) {
    const double delta =
        std::clamp(std::exp(log_delta), NoisySpectrum::min_delta, prior_->max_delta());
    return std::log(prior_->at(delta).mmse.value / mmse);
  };
  const double low = std::max(std::log(NoisySpectrum::min_delta), std::log(mmse) - 1.0);
  return std::exp(root_between(residual, low, std::log(prior_->max_delta()),
                               4.0 * std::numeric_limits<double>::epsilon(), "the noise")
                      .x);
}

PotentialPoint StateEvolution::potential(double alpha, double overlap) const {
  if (model_.published.density) {
    throw Refused(
        "the published output function is not that of the model, so that nothing is "
        "maximal at its fixed points; possible: `output = exact`");
  }
  if (model_.layers > 1 && model_.labels == LayerLabels::sum) {
    throw Refused(
        "one label of the sum of several layers shows the sum alone, whose potential is "
        "that of one layer of larger variance; possible: `labels = separate`");
  }
  const double v = prior_->second_moment() - overlap;
  const Estimate e = (*information_)(overlap, v);
  const Estimate push{0.5 * alpha * e.value / v, 0.5 * alpha * e.error / v};
  if (overlap <= prior_->known()) {
    return {overlap, v, {0.0, 0.0}, {push.value - 0.25 / prior_->max_delta(), push.error}};
  }
  const double delta = delta_of(v);
  return {overlap, v, free_entropy(alpha, delta, v), {push.value - 0.25 / delta, push.error}};
}

/// For a label of the sum of layers, what is known about the sum is shared among its terms [aim
/// 29].
CurvePoint StateEvolution::per_layer(CurvePoint p) const {
  if (model_.labels != LayerLabels::sum || model_.layers == 1) return p;
  const double layers = model_.layers;
  p.overlap.value /= layers * layers;
  p.overlap.error /= layers * layers;
  p.mmse = {1.0 - p.overlap.value, p.overlap.error};
  return p;
}

std::vector<CurvePoint> bayes_curve(const AttentionIndexed& model, std::span<const double> alphas,
                                    std::uint64_t seed, const Context& context) {
  const StateEvolution evolution(model, seed, context);
  std::vector<CurvePoint> points(alphas.size());
  numerics::parallel_for(context, alphas.size(),
                         [&](std::size_t i) { points[i] = evolution.at(alphas[i]); });
  return points;
}

}  // namespace onset::aim
