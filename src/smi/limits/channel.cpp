#include "onset/smi/limits/channel.hpp"

#include <cmath>
#include <string>

#include "onset/core/error.hpp"
#include "onset/numerics/gaussian_expectation.hpp"
#include "smi/limits/teacher_batch.hpp"

namespace onset::smi {
namespace {

using numerics::NormalBatch;

/// Per layer: the wanted mean, the inner-bias monitor, and two controls of expectation 0.
constexpr int targets_per_layer = 2;
constexpr int controls_per_layer = 7;

/// The monitor compares n with 2n inner nodes. A bias that falls like 1/n or faster is at most
/// twice that difference.
constexpr double bias_factor = 2.0;

struct LayerView {
  const PosteriorMoments& moments;
  const TeacherBatch& teacher;
  std::size_t layer;
  std::size_t tokens;
 double variance; };

/// Weight of half 0 when the two inner estimates are pooled: Z_0 / (Z_0 + Z_1).
double pooled_weight(const PosteriorMoments& m, std::size_t i) {
  return 1.0 / (1.0 + std::exp(m.half[1].log_z[i] - m.half[0].log_z[i]));
}

/// A learned layer: E|<zeta>|^2 from the independent pair; controls are Nishimori identities [smi
/// 15].
void gain_outputs(const LayerView& v, std::size_t i, std::size_t count, double* out) {
  double cross = 0.0;
  double single = 0.0;
  double pooled = 0.0;
  double norm = 0.0;
  double known = 0.0;
  double known2 = 0.0, zs2=0;
  const double share = pooled_weight(v.moments, i);
  for (std::size_t t = 0; t < v.tokens; ++t) {
    const std::size_t row = (v.layer * v.tokens + t) * count + i;
    const std::size_t diagonal =
        (v.layer * static_cast<std::size_t>(v.moments.pairs) + t * (t + 3) / 2) * count + i;
    const double a = v.moments.half[0].mean[row];
    const double b = v.moments.half[1].mean[row];
    cross += a * b;
    single += 0.5 * (a + b) * v.teacher.zeta[row];
    pooled += (share * a + (1.0 - share) * b) * v.teacher.zeta[row];
    known += (share * a + (1.0 - share) * b) * v.teacher.omega[row];
 known2+=v.teacher.omega[row]*v.teacher.omega[row]; zs2+=v.teacher.zeta[row]*v.teacher.zeta[row];
    norm += share * v.moments.half[0].second[diagonal] +
            (1.0 - share) * v.moments.half[1].second[diagonal];
  }
  out[0] = cross;
  out[1] = single - pooled;
  out[2] = pooled - cross;
  out[3] = norm - static_cast<double>(v.tokens);
  out[4]=known; out[5]=share * v.moments.half[0].fourth[v.layer*count+i]+(1.0 - share) * v.moments.half[1].fourth[v.layer*count+i] - static_cast<double>(v.tokens*(v.tokens+2)); out[6]=known2-v.tokens*(1-v.variance); out[7]=zs2-v.tokens; out[8]=0;
}

/// A layer at overlap 0: E||T||_F^2, T = <zeta zeta^T> - I [smi 16].
void growth_outputs(const LayerView& v, std::size_t i, std::size_t count, double* out) {
  double cross = 0.0;
  double single = 0.0;
  double pooled = 0.0;
  double trace = 0.0, zs2=0;
  const double share = pooled_weight(v.moments, i);
  std::size_t pair = v.layer * static_cast<std::size_t>(v.moments.pairs);
  for (std::size_t t = 0; t < v.tokens; ++t) {
    for (std::size_t s = 0; s <= t; ++s, ++pair) {
      const double unit = s == t ? 1.0 : 0.0;
      const double multiplicity = s == t ? 1.0 : 2.0;
      const double a = v.moments.half[0].second[pair * count + i] - unit;
      const double b = v.moments.half[1].second[pair * count + i] - unit;
      const double truth = v.teacher.zeta[(v.layer * v.tokens + t) * count + i] *
                               v.teacher.zeta[(v.layer * v.tokens + s) * count + i] -
                           unit;
      cross += multiplicity * a * b;
      single += multiplicity * 0.5 * (a + b) * truth;
      pooled += multiplicity * (share * a + (1.0 - share) * b) * truth;
      zs2+=unit*(truth+1);
      trace += unit * (share * a + (1.0 - share) * b);
    }
  }
  out[0] = cross;
  out[1] = single - pooled;
  out[2] = pooled - cross;
  out[3] = trace;
  out[4]=share * v.moments.half[0].fourth[v.layer*count+i]+(1.0 - share) * v.moments.half[1].fourth[v.layer*count+i] - static_cast<double>(v.tokens*(v.tokens+2)); out[5]=zs2-v.tokens; out[6]=zs2*zs2-v.tokens*(v.tokens+2.0);out[7]=(zs2)*(trace+v.tokens)-(trace+v.tokens)*(trace+v.tokens);out[8]=0;
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
  if (variance.size() != layers) {
    throw InvalidArgument("variance", "needs one value per layer");
  }
  for (const double v : variance) {
    if (!(v > 0.0 && v <= 1.0)) throw InvalidArgument("variance", "allowed: numbers in (0, 1]");
  }
  const auto targets = targets_per_layer * model_.layers + 1;
  numerics::ExpectationOptions rule;
  rule.dimensions = teacher_dimensions(model_);
  rule.outputs = targets + controls_per_layer * model_.layers;
  rule.points = options_.points;
  rule.replicates = options_.replicates;
  rule.seed = options_.seed;

  const auto integrand = [&](const NormalBatch& normals, std::span<double> out) {
    const std::size_t count = normals.count;
    const TeacherBatch teacher = teacher_batch(model_, variance, normals);
    PosteriorMoments moments(model_.layers, model_.tokens, count);
    posterior_->moments(
        {count, teacher.label, teacher.omega, variance, normals.first, normals.replicate}, moments);
    const auto row = [&](int output) {
      return out.data() + static_cast<std::size_t>(output) * count;
    };
    for (std::size_t l = 0; l < layers; ++l) {
      const LayerView view{moments, teacher, l, static_cast<std::size_t>(model_.tokens), variance[l]};
      const int layer = static_cast<int>(l);
      double values[targets_per_layer + controls_per_layer];
      for (std::size_t i = 0; i < count; ++i) {
        (variance[l] < 1.0 ? gain_outputs : growth_outputs)(view, i, count, values);
        row(targets_per_layer * layer)[i] = values[0];
        row(targets_per_layer * layer + 1)[i] = values[1];
        for(int c=0;c<controls_per_layer;c++) row(targets + controls_per_layer * layer+c)[i] = values[2+c];
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double low = std::fmin(moments.half[0].log_z[i], moments.half[1].log_z[i]);
      row(targets - 1)[i] = low + std::log(0.5 * (std::exp(moments.half[0].log_z[i] - low) +
                                                  std::exp(moments.half[1].log_z[i] - low)));
    }
  };
  auto means = numerics::gaussian_expectation_with_controls(rule, targets, integrand, context);

  ChannelInformation info;
  for (std::size_t l = 0; l < layers; ++l) {
    auto& value = means[targets_per_layer * l];
    const double bias = bias_factor * std::abs(numerics::mean(means[targets_per_layer * l + 1]));
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
