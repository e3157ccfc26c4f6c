#include "aim/learners/two_layer_amp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "aim/learners/adaptive_damping.hpp"
#include "aim/model/token_products.hpp"
#include "numerics/parallel.hpp"

namespace onset::aim {
namespace {

constexpr std::size_t samples_per_task = 64;
constexpr std::size_t pairs = 3;
/// As in the message passing of one layer.
constexpr int turns_above_recovery = 20;
constexpr double nothing_to_learn = 1e-7;

double product_over_dim(const std::vector<double>& a, const std::vector<double>& b,
                        std::size_t dim) {
  std::vector<double> rows(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) rows[i] += a[i * dim + j] * b[i * dim + j];
  }
  return numerics::ordered_sum(rows.data(), dim) / static_cast<double>(dim);
}

/// What the algorithm keeps of a layer.
struct LayerState {
  std::vector<double> estimate;
  std::vector<double> anchor;  ///< the estimates that omega is made of, mixed by damping
  std::vector<double> move;    ///< the last step of the estimate
  std::vector<double> gradient;
  std::vector<double> omega;
  std::vector<double> field;
  double variance = 1.0;
  std::array<double, 2> asked{1.0, 1.0};  ///< the last two values that the prior asked for
  double conjugate = 0.0;

  [[nodiscard]] double asked_mean() const { return 0.5 * (asked[0] + asked[1]); }
};

class TwoLayerPassing {
 public:
  TwoLayerPassing(const AttentionIndexed& model, const TwoLayerData& data,
                  const TwoLayerOptions& options, const Context& context)
      : network_{model.beta, model.skip},
        data_(data),
        options_(options),
        context_(context),
        damping_(options.amp.damping, options.amp.settles ? 1 : turns_above_recovery),
        products_(token_products(data.tokens, context)),
        relative_(relative_variances(*products_, data.tokens, options.amp.norm_aware)) {
    const std::size_t dim = data.tokens.dim;
    for (LayerState& layer : layers_) {
      layer.estimate.assign(dim * dim, 0.0);
      layer.gradient.assign(relative_.size(), 0.0);
      layer.field.assign(relative_.size(), 0.0);
    }
  }

  TwoLayerRun run() {
    TwoLayerRun out;
    out.status = {StopReason::unfinished, 0, 0.0};
    while (out.status.iterations < options_.amp.max_iterations) {
      context_.check();
      out.steps.push_back(iterate());
      ++out.status.iterations;
      out.status.residual = distance_;
      if (has_diverged(out.steps.back())) {
        out.status.reason = StopReason::diverged;
        break;
      }
      if (has_arrived()) {
        out.status.reason = StopReason::converged;
        break;
      }
    }
    for (std::size_t l = 0; l < 2; ++l) out.estimate[l] = std::move(layers_[l].estimate);
    return out;
  }

 private:
  std::array<TwoLayerStep, 2> iterate() {
    update_fields();
    update_gradients();
    std::array<TwoLayerStep, 2> steps;
    AdaptiveDamping::Observation seen;
    double asked = 0.0;
    const bool first = layers_[0].move.empty();
    for (std::size_t l = 0; l < 2; ++l) {
      LayerState& layer = layers_[l];
      seen.variance += layer.variance;
      const std::vector<double> before = layer.move;
      steps[l] = denoise(layer, data_.truth[l]);
      seen.step += steps[l].step;
      asked += layer.asked_mean();
      if (first) continue;
      const std::size_t dim = data_.tokens.dim;
      seen.step_before += product_over_dim(before, before, dim);
      seen.product += product_over_dim(before, layer.move, dim);
    }
    seen.asked = asked;
    if (!first) observe(seen);
    return steps;
  }

  /// Half of the sum of two steps is drift, which damping shortens; the rest goes back and forth.
  void observe(const AdaptiveDamping::Observation& seen) {
    const double drift =
        0.25 * (seen.step + seen.step_before + 2.0 * seen.product) / std::pow(1.0 - damping_(), 2);
    distance_ = std::max(seen.step, drift);
    damping_.observe(seen);
  }

  /// omega with its Onsager term, damped, and the estimates that it stands for.
  void update_fields() {
    for (LayerState& layer : layers_) {
      scores_of(*products_, layer.estimate, 2, layer.field);
      const bool first = layer.omega.empty();
      if (first) {
        layer.omega = layer.field;
        layer.anchor = layer.estimate;
      }
      const double keep = first ? 0.0 : damping_();
      for (std::size_t i = 0; i < layer.anchor.size(); ++i) {
        layer.anchor[i] = keep * layer.anchor[i] + (1.0 - keep) * layer.estimate[i];
      }
      for (std::size_t i = 0; i < layer.omega.size(); ++i) {
        const double fresh = layer.field[i] - layer.variance * relative_[i] * layer.gradient[i];
        layer.omega[i] = keep * layer.omega[i] + (1.0 - keep) * fresh;
      }
    }
  }

  /// g of both layers, and q_hat from its size [aim 48].
  void update_gradients() {
    const std::size_t samples = data_.shown.size();
    const std::size_t tasks = (samples + samples_per_task - 1) / samples_per_task;
    std::array<std::vector<double>, 2> sizes{std::vector<double>(tasks, 0.0),
                                             std::vector<double>(tasks, 0.0)};
    numerics::parallel_for(context_, tasks, [&](std::size_t task) {
      const std::size_t end = std::min(samples, (task + 1) * samples_per_task);
      for (std::size_t s = task * samples_per_task; s < end; ++s) {
        set_gradients(s);
        for (std::size_t l = 0; l < 2; ++l) {
          for (std::size_t i = pairs * s; i < pairs * (s + 1); ++i) {
            sizes[l][task] += relative_[i] * layers_[l].gradient[i] * layers_[l].gradient[i];
          }
        }
      }
    });
    const auto d = static_cast<double>(data_.tokens.dim);
    for (std::size_t l = 0; l < 2; ++l) {
      layers_[l].conjugate = 2.0 * numerics::ordered_sum(sizes[l].data(), tasks) / (d * d);
    }
  }

  void set_gradients(std::size_t sample) {
    const double* relative = relative_.data() + pairs * sample;
    const auto law = [&](const LayerState& layer) {
      const double off = layer.variance * relative[1];
      return PairLaw{fields_of(layer.omega.data() + pairs * sample),
                     {layer.variance * relative[0] + off, off, layer.variance * relative[2] + off}};
    };
    const std::array<PairLaw, 2> laws{law(layers_[0]), law(layers_[1])};
    const TwoLayerMoments m = two_layer_posterior(network_, data_.shown[sample], laws);
    for (std::size_t l = 0; l < 2; ++l) {
      const PairFields learned{m.mean[l][0] - laws[l].mean[0], m.mean[l][1] - laws[l].mean[1]};
      const PairFields slope = solve(laws[l].covariance, learned);
      double* g = layers_[l].gradient.data() + pairs * sample;
      g[0] = slope[0];
      g[1] = -(slope[0] + slope[1]);
      g[2] = slope[1];
    }
  }

  /// The matrix that the labels show, S plus Gaussian noise of variance 1/q_hat, and the best
  /// linear estimate from it.
  TwoLayerStep denoise(LayerState& layer, const std::vector<double>& truth) {
    const std::size_t dim = data_.tokens.dim;
    TwoLayerStep step;
    step.conjugate = layer.conjugate;
    layer.move = layer.estimate;
    const std::vector<double> sum = back_projection(*products_, layer.gradient, data_.tokens);
    const double scale = 2.0 / static_cast<double>(dim);
    const double share = 1.0 / (1.0 + layer.conjugate);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      layer.estimate[i] = share * (layer.conjugate * layer.anchor[i] + scale * sum[i]);
      layer.move[i] = layer.estimate[i] - layer.move[i];
    }
    layer.asked = {layer.asked[1], share};
    // The variance moves more slowly than the estimate, as for one matrix.
    const double keep = 0.5 * (1.0 + damping_());
    layer.variance = keep * layer.variance + (1.0 - keep) * share;
    step.variance = layer.variance;
    step.step = product_over_dim(layer.move, layer.move, dim);
    step.self_overlap = product_over_dim(layer.estimate, layer.estimate, dim);
    step.overlap = product_over_dim(layer.estimate, truth, dim);
    step.mse = squared_distance(layer.estimate, truth, dim);
    return step;
  }

  [[nodiscard]] bool has_arrived() const {
    const double variance = layers_[0].variance + layers_[1].variance;
    if (variance < nothing_to_learn) return true;
    if (!(distance_ <= options_.amp.tolerance * variance)) return false;
    const double near = 0.1 * std::sqrt(options_.amp.tolerance);
    return std::all_of(layers_.begin(), layers_.end(), [&](const LayerState& layer) {
      return std::abs(layer.asked_mean() - layer.variance) <= near * layer.variance;
    });
  }

  [[nodiscard]] bool has_diverged(const std::array<TwoLayerStep, 2>& steps) const {
    constexpr double longer_than_any_truth = 2.0;
    for (std::size_t l = 0; l < 2; ++l) {
      const TwoLayerStep& step = steps[l];
      if (!std::isfinite(step.variance) || !(step.self_overlap < longer_than_any_truth)) {
        return true;
      }
      if (step.variance < options_.min_variance[l]) return true;
    }
    return false;
  }

  TwoLayers network_;
  const TwoLayerData& data_;
  const TwoLayerOptions& options_;
  const Context& context_;
  AdaptiveDamping damping_;
  std::unique_ptr<TokenProducts> products_;
  std::vector<double> relative_;  ///< variances of the scores in units of a layer's own
  std::array<LayerState, 2> layers_;
  /// The squared distance of the estimates from their limit; not known before the second step.
  double distance_ = std::numeric_limits<double>::infinity();
};

}  // namespace

TwoLayerRun two_layer_message_passing(const AttentionIndexed& model, const TwoLayerData& data,
                                      const TwoLayerOptions& options, const Context& context) {
  model.validate();
  options.amp.validate();
  TwoLayerRun run = TwoLayerPassing(model, data, options, context).run();
  if (run.status.reason != StopReason::diverged || options.amp.damping == 0.0) return run;
  // As for one matrix: first steps that overshoot need more damping, and where one step almost
  // gets there, none.
  constexpr double stronger = 0.8;
  TwoLayerOptions changed = options;
  changed.amp.damping = options.amp.settles ? std::max(options.amp.damping, stronger) : 0.0;
  TwoLayerRun second = TwoLayerPassing(model, data, changed, context).run();
  return second.status.reason == StopReason::diverged ? run : second;
}

}  // namespace onset::aim
