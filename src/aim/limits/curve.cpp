#include "aim/limits/curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/limits/root_between.hpp"
#include "aim/limits/spectrum.hpp"
#include "numerics/parallel.hpp"

namespace onset::aim {
namespace {

AttentionIndexed checked(const AttentionIndexed& model) {
  model.validate();
  return model;
}

/// The relative step for the slopes with which errors are propagated; they need two digits.
constexpr double slope_step = 0.02;
constexpr double longer_chord = 4.0;

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
    return per_layer({alpha, {prior_->known(), 0.0}, {0.0, 0.0}, unknown, found});
  }
  if (alpha >= perfect_recovery()) {
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
  return per_layer(p);
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
