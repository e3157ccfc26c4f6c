#include "aim/learners/amp.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "aim/learners/adaptive_damping.hpp"
#include "aim/limits/spectrum.hpp"
#include "aim/model/channel.hpp"
#include "aim/model/token_products.hpp"
#include "numerics/parallel.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

constexpr std::size_t block = 256;  ///< samples per task
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
/// The number of oscillations in a row after which damping grows. Above perfect recovery V falls
/// all the way, and turning is part of that way.
constexpr int patience_above_recovery = 20;
/// Below this variance nothing is left to learn that is worth an iteration.
constexpr double exact_variance = 1e-7;

double inner(const std::vector<double>& a, const std::vector<double>& b, std::size_t dim) {
  std::vector<double> rows(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) rows[i] += a[i * dim + j] * b[i * dim + j];
  }
  return numerics::ordered_sum(rows.data(), dim) / static_cast<double>(dim);
}

/// The state of the algorithm and its buffers.
class MessagePassing {
 public:
  MessagePassing(const AttentionIndexed& model, const Dataset& data,
                 const std::vector<double>& truth, const AmpOptions& options,
                 const Context& context)
      : model_(model),
        data_(data),
        truth_(truth),
        options_(options),
        context_(context),
        damping_(options.damping, options.settles ? 1 : patience_above_recovery),
        output_(model.channel->output(model, data)),
        scores_(data.tokens * (data.tokens + 1) / 2),
        estimate_(data.dim * data.dim, 0.0),
        gradient_(data.samples * scores_, 0.0),
        field_(data.samples * scores_),
        products_(token_products(data, context)) {
    for (std::size_t i = 0; i < data.dim; ++i) estimate_[i * data.dim + i] = std::sqrt(model.rho);
    variances_ = relative_variances(*products_, data, options.norm_aware);
  }

  AmpRun run() {
    AmpRun out;
    out.status = {StopReason::unfinished, 0, 0.0};
    while (out.status.iterations < options_.max_iterations) {
      context_.check();
      const AmpStep step = iterate();
      ++out.status.iterations;
      out.status.residual = step.step;
      out.steps.push_back(step);
      if (has_diverged(step)) {
        out.status.reason = StopReason::diverged;
        break;
      }
      if (has_arrived(step) || step.variance < exact_variance) {
        out.status.reason = StopReason::converged;
        break;
      }
    }
    out.estimate = std::move(estimate_);
    return out;
  }

 private:
  AmpStep iterate() {
    AmpStep step;
    products_->allow_single(options_.single && variance_ >= min_single_variance);
    step.conjugate = update_gradient();
    if (!(std::isfinite(step.conjugate) && step.conjugate > 0.0)) {
      step.variance = not_known;
      return step;
    }
    std::vector<double> move = estimate_;
    const double variance = variance_;
    denoise(step);
    for (std::size_t i = 0; i < move.size(); ++i) move[i] = estimate_[i] - move[i];
    step.step = inner(move, move, data_.dim);
    observe(step.step, move, variance);
    last_move_ = std::move(move);
    step.variance = variance_;
    step.self_overlap = inner(estimate_, estimate_, data_.dim);
    step.mse = truth_.empty() ? not_known : squared_distance(estimate_, truth_, data_.dim);
    step.overlap = truth_.empty() ? not_known : inner(estimate_, truth_, data_.dim);
    return step;
  }

  /// Learns from the last two steps what damping should be, and how far there is to go. Half of
  /// their sum is drift, which damping shortens; the rest goes back and forth.
  void observe(double step, const std::vector<double>& move, double variance) {
    if (last_move_.empty()) return;
    const double before = inner(last_move_, last_move_, data_.dim);
    const double product = inner(move, last_move_, data_.dim);
    const double drift = 0.25 * (step + before + 2.0 * product) / std::pow(1.0 - damping_(), 2);
    distance_ = std::max(step, drift);
    damping_.observe(
        {step, before, product, variance, 0.5 * (asked_variance_[0] + asked_variance_[1])});
  }

  /// Computes omega with its Onsager term, and g there; returns q_hat from the size of g [aim 28].
  double update_gradient() {
    scores_of(*products_, estimate_, data_.tokens, field_);
    const bool first = omega_.empty();
    if (first) {
      omega_ = field_;
      anchor_ = estimate_;
    }
    const double keep = first ? 0.0 : damping_();
    for (std::size_t i = 0; i < anchor_.size(); ++i) {
      anchor_[i] = keep * anchor_[i] + (1.0 - keep) * estimate_[i];
    }
    const std::size_t tasks = (data_.samples + block - 1) / block;
    std::vector<double> sizes(tasks, 0.0);
    numerics::parallel_for(context_, tasks, [&](std::size_t task) {
      std::vector<double> variance(scores_);
      const std::size_t end = std::min(data_.samples, (task + 1) * block);
      for (std::size_t s = task * block; s < end; ++s) {
        const std::size_t at = s * scores_;
        for (std::size_t i = 0; i < scores_; ++i) {
          variance[i] = variance_ * variances_[at + i];
          const double fresh = field_[at + i] - variance[i] * gradient_[at + i];
          omega_[at + i] = keep * omega_[at + i] + (1.0 - keep) * fresh;
        }
        const std::span<double> g(gradient_.data() + at, scores_);
        output_->gradient(s, {omega_.data() + at, scores_}, variance, g);
        for (std::size_t i = 0; i < scores_; ++i) sizes[task] += variances_[at + i] * g[i] * g[i];
      }
    });
    const auto d = static_cast<double>(data_.dim);
    return 2.0 * numerics::ordered_sum(sizes.data(), tasks) / (d * d);
  }

  /// Forms the matrix that the labels show, S plus noise, and denoises it. Damping keeps part of
  /// the old estimate in omega, so the gradients correct the same mixture.
  void denoise(AmpStep& step) {
    const std::size_t dim = data_.dim;
    std::vector<double> shown = back_projection(*products_, gradient_, data_);
    const double scale = 2.0 / (step.conjugate * static_cast<double>(dim));
    for (std::size_t i = 0; i < dim * dim; ++i) shown[i] = anchor_[i] + scale * shown[i];
    std::vector<double> values(dim);
    products_->eigenvalues(shown, values);
    step.min_eigenvalue = values.front();
    step.max_eigenvalue = values.back();
    const NoisySpectrum spectrum(
        model_.rho,
        std::clamp(1.0 / step.conjugate, NoisySpectrum::min_delta, NoisySpectrum::max_delta));
    for (double& value : values) value = spectrum.denoiser(value);
    products_->with_eigenvalues(values, estimate_);
    const double variance = spectrum.mmse().value;
    asked_variance_ = {asked_variance_[1], variance};
    if (!model_.channel->fixes_length()) set_length(1.0 + model_.rho - variance);
    // The variance moves more slowly than the estimate: one that ran ahead would make g and q_hat
    // too large, and collapse.
    const double keep = 0.5 * (1.0 + damping_());
    variance_ = keep * variance_ + (1.0 - keep) * variance;
  }

  /// Where labels do not change when S is multiplied by a number (hardmax), nothing holds the
  /// length of the estimate at finite size. The prior gives it: ||S_hat||^2/d = Q_0 - V, where Q_0
  /// has a known correction 1/d.
  void set_length(double overlap) {
    const double wanted = overlap + 1.0 / static_cast<double>(data_.dim);
    const double scale = std::sqrt(wanted / inner(estimate_, estimate_, data_.dim));
    for (double& x : estimate_) x *= scale;
  }

  /// Whether both have settled: the variance moves more slowly than the estimate, and has to arrive
  /// as well.
  [[nodiscard]] bool has_arrived(const AmpStep& step) const {
    const double asked = 0.5 * (asked_variance_[0] + asked_variance_[1]);
    return distance_ <= options_.tolerance * step.variance &&
           std::abs(asked - step.variance) <= 0.1 * std::sqrt(options_.tolerance) * step.variance;
  }

  [[nodiscard]] bool has_diverged(const AmpStep& step) const {
    if (!std::isfinite(step.variance) || !std::isfinite(step.self_overlap)) return true;
    // No estimate on the Nishimori line is longer than the truth; one of twice its squared length
    // is lost.
    if (step.self_overlap > 2.0 * (1.0 + model_.rho)) return true;
    return step.variance < options_.min_variance;
  }

  const AttentionIndexed& model_;
  const Dataset& data_;
  const std::vector<double>& truth_;
  const AmpOptions& options_;
  const Context& context_;
  AdaptiveDamping damping_;
  std::unique_ptr<const OutputFunction> output_;
  std::size_t scores_;
  std::vector<double> estimate_;
  std::vector<double> gradient_;
  std::vector<double> variances_;  ///< variances of the scores, relative to variance_
  std::vector<double> omega_;
  std::vector<double> anchor_;  ///< the estimates that omega is made of, mixed by damping
  std::vector<double> field_;
  std::unique_ptr<TokenProducts> products_;
  double variance_ = 1.0;
  std::array<double, 2> asked_variance_{1.0, 1.0};  ///< what the last two spectra asked for
  std::vector<double> last_move_;                   ///< S_hat' - S_hat
  /// The squared distance of the estimate from its limit; it is not known before the second step.
  double distance_ = std::numeric_limits<double>::infinity();
};

}  // namespace

void AmpOptions::validate() const {
  if (max_iterations < 1) throw InvalidArgument("max_iterations", "allowed: 1 or more");
  if (!(tolerance > 0.0)) throw InvalidArgument("tolerance", "allowed: a number above 0");
  if (!(damping >= 0.0 && damping < 1.0)) throw InvalidArgument("damping", "allowed: [0, 1)");
}

AmpRun approximate_message_passing(const AttentionIndexed& model, const Dataset& data,
                                   const std::vector<double>& truth, const AmpOptions& options,
                                   const Context& context) {
  model.validate();
  options.validate();
  AmpRun run = MessagePassing(model, data, truth, options, context).run();
  if (run.status.reason != StopReason::diverged || options.damping == 0.0) return run;
  // With few samples the first steps overshoot. Far above perfect recovery one step almost gets
  // there, and it is damping that makes the run diverge.
  constexpr double stronger = 0.8;
  AmpOptions changed = options;
  changed.damping = options.settles ? std::max(options.damping, stronger) : 0.0;
  AmpRun second = MessagePassing(model, data, truth, changed, context).run();
  return second.status.reason == StopReason::diverged ? run : second;
}

}  // namespace onset::aim
