#include "onset/smi/limits/channel.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "onset/core/error.hpp"
#include "onset/numerics/gaussian_expectation.hpp"
#include "smi/limits/teacher_batch.hpp"

namespace onset::smi {
namespace {

using numerics::NormalBatch;

/// Outputs per layer: the wanted mean and the monitor of the inner integration's bias.
constexpr int targets_per_layer = 2;

/// The inner integrals are ratios of sums over n nodes, with a bias b(n). Pooling two independent
/// halves halves it to leading order, so the monitor D = b(n) - b(2n) is b(n) / 2: a mean that
/// carries no other error. A product of two inner estimates is biased by 2 b(n) = 4 D. That is
/// taken off; a whole D is stated as what may be left (residuals measured from 32 nodes on are
/// smaller) [smi 27].
constexpr double bias_correction = 4.0;
constexpr double bias_left = 1.0;

/// What one sample contributes for one layer.
struct Contribution {
  double product;  // |<zeta>|^2 or ||T||_F^2, as the product of two independent inner estimates
  double monitor;  // the pooled estimate times that with n minus that with 2n inner nodes
  double control;  // <|zeta|^2> - M: expectation 0 by the Nishimori identity [smi 15]; twice the
                   // pooled estimate minus the mean of the halves, so that its own bias cancels
};

struct LayerView {
  const PosteriorMoments& moments;
  std::size_t layer;
  std::size_t tokens;
  std::size_t count;

  /// Weight of half 0 when the two inner estimates are pooled: Z_0 / (Z_0 + Z_1).
  [[nodiscard]] double share(std::size_t i) const {
    return 1.0 / (1.0 + std::exp(moments.half[1].log_z[i] - moments.half[0].log_z[i]));
  }
  [[nodiscard]] std::size_t row(std::size_t token, std::size_t i) const {
    return (layer * tokens + token) * count + i;
  }
  /// Entry (t, s), s <= t, of the second moments.
  [[nodiscard]] std::size_t pair(std::size_t t, std::size_t s, std::size_t i) const {
    return (layer * static_cast<std::size_t>(moments.pairs) + t * (t + 1) / 2 + s) * count + i;
  }
};

/// A learned layer: E|<zeta>|^2 [smi 14].
Contribution gain(const LayerView& v, std::size_t i) {
  Contribution c{0.0, 0.0, -static_cast<double>(v.tokens)};
  const double share = v.share(i);
  const auto& [first, second] = v.moments.half;
  for (std::size_t t = 0; t < v.tokens; ++t) {
    const double a = first.mean[v.row(t, i)];
    const double b = second.mean[v.row(t, i)];
    c.product += a * b;
    c.monitor += (0.5 - share) * (a - b) * (share * a + (1.0 - share) * b);
    c.control += (2.0 * share - 0.5) * first.second[v.pair(t, t, i)] +
                 (1.5 - 2.0 * share) * second.second[v.pair(t, t, i)];
  }
  return c;
}

/// A layer at overlap 0: E||T||_F^2, T = <zeta zeta^T> - I [smi 16].
Contribution growth(const LayerView& v, std::size_t i) {
  Contribution c{0.0, 0.0, 0.0};
  const double share = v.share(i);
  const auto& [first, second] = v.moments.half;
  for (std::size_t t = 0; t < v.tokens; ++t) {
    for (std::size_t s = 0; s <= t; ++s) {
      const double unit = s == t ? 1.0 : 0.0;
      const double multiplicity = s == t ? 1.0 : 2.0;
      const double a = first.second[v.pair(t, s, i)] - unit;
      const double b = second.second[v.pair(t, s, i)] - unit;
      c.product += multiplicity * a * b;
      const double pooled = share * a + (1.0 - share) * b;
      c.monitor += multiplicity * (0.5 - share) * (a - b) * pooled;
      c.control += unit * ((2.0 * share - 0.5) * a + (1.5 - 2.0 * share) * b);
    }
  }
  return c;
}

/// log of the mean of the two inner estimates of Z.
double pooled_log_z(const PosteriorMoments& m, std::size_t i) {
  const double a = m.half[0].log_z[i];
  const double b = m.half[1].log_z[i];
  const double low = std::fmin(a, b);
  return low + std::log(0.5 * (std::exp(a - low) + std::exp(b - low)));
}

double bias_bound(const numerics::Replicates& monitor) {
  return bias_left * std::abs(numerics::mean(monitor));
}

}  // namespace

void ChannelOptions::validate() const {
  if (points < 2 || (points & (points - 1)) != 0) {
    throw InvalidArgument(
        "points", std::to_string(points) + " is not allowed; allowed: a power of two from 2 on");
  }
  if (replicates < 2) {
    throw InvalidArgument("replicates",
                          std::to_string(replicates) + " is not allowed; allowed: 2 or more");
  }
  PosteriorOptions{nodes, seed}.validate();
}

Channel::Channel(const DeepAttention& model, const ChannelOptions& options)
    : model_(model), options_(options) {
  model_.validate();
  options_.validate();
  posterior_ = attention_posterior(model_, {options.nodes, options.seed});
}

ChannelInformation Channel::at(std::span<const double> variance, const Context& context) const {
  const auto layers = static_cast<std::size_t>(model_.layers);
  if (variance.size() != layers) throw InvalidArgument("variance", "needs one value per layer");
  for (const double v : variance) {
    if (!(v > 0.0 && v <= 1.0)) throw InvalidArgument("variance", "allowed: numbers in (0, 1]");
  }
  // Targets: two per layer and the evidence. Controls: one per layer and the importance weight.
  const int targets = targets_per_layer * model_.layers + 1;
  numerics::ExpectationOptions rule;
  rule.dimensions = teacher_dimensions(model_);
  rule.outputs = targets + model_.layers + 1;
  rule.points = options_.points;
  rule.replicates = options_.replicates;
  rule.seed = options_.seed;

  const auto integrand = [&](const NormalBatch& normals, std::span<double> out) {
    const std::size_t count = normals.count;
    const TeacherBatch teacher = teacher_batch(model_, variance, normals);
    PosteriorMoments moments(model_.layers, model_.tokens, count);
    // The truth only says where to put integration nodes.
    posterior_->moments({count, teacher.label, teacher.omega, variance, normals.first,
                         normals.replicate, teacher.field},
                        moments);
    const auto row = [&](int output) {
      return out.data() + static_cast<std::size_t>(output) * count;
    };
    for (int layer = 0; layer < model_.layers; ++layer) {
      const auto l = static_cast<std::size_t>(layer);
      const LayerView view{moments, l, static_cast<std::size_t>(model_.tokens), count};
      for (std::size_t i = 0; i < count; ++i) {
        const Contribution c = variance[l] < 1.0 ? gain(view, i) : growth(view, i);
        row(targets_per_layer * layer)[i] =
            teacher.weight[i] * (c.product - bias_correction * c.monitor);
        row(targets_per_layer * layer + 1)[i] = teacher.weight[i] * c.monitor;
        row(targets + layer)[i] = teacher.weight[i] * c.control;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      row(targets - 1)[i] = teacher.weight[i] * pooled_log_z(moments, i);
      row(targets + model_.layers)[i] = teacher.weight[i] - 1.0;
    }
  };
  auto means = numerics::gaussian_expectation_with_controls(rule, targets, integrand, context);

  ChannelInformation info;
  for (std::size_t l = 0; l < layers; ++l) {
    auto& value = means[targets_per_layer * l];
    const double bias = bias_bound(means[targets_per_layer * l + 1]);
    const bool learned = variance[l] < 1.0;
    info.gain.push_back(learned ? value : numerics::Replicates(value.size(), 0.0));
    info.growth.push_back(learned ? numerics::Replicates{} : value);
    info.gain_bias.push_back(learned ? bias : 0.0);
    info.growth_bias.push_back(learned ? 0.0 : bias);
  }
  info.log_evidence = std::move(means[static_cast<std::size_t>(targets) - 1]);
  return info;
}

}  // namespace onset::smi
