#include "onset/smi/limits/channel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "numerics/quadrature/gaussian_expectation.hpp"
#include "onset/core/error.hpp"
#include "smi/limits/teacher_batch.hpp"
#include "smi/model/attention_model.hpp"

namespace onset::smi {
namespace {

using numerics::NormalBatch;

/// Outputs per block: gain and growth, each with the monitor of the inner integration's bias, the
/// agreement with the truth, and the monitor of the block's control.
enum Output {
  gain_of,
  gain_monitor,
  growth_of,
  growth_monitor,
  agreement_of,
  control_monitor,
  outputs_per_block
};

/// The bias of the inner integrals is removed to leading order [smi 27], and this share of the
/// correction is stated as a bound on what may be left. (With two layers less is left from 32 nodes
/// on. Where a few nodes carry the weight, as with many layers, more is left, which [smi 85]
/// measures.)
constexpr double bias_left = 0.25;

/// |<zeta_b>| exceeds the root of the block's size by this in less than 1e-8 of all samples: by
/// [smi 15] and Jensen's inequality its tail is no heavier than that of |zeta*_b|.
constexpr double tail_length = 5.0;

/// What one sample contributes for one block, over its rank.
struct Contribution {
  double product;  // |<zeta>|^2 or ||T||_F^2, as the product of two independent inner estimates
  double monitor;  // its bias before corrections
};

struct BlockView {
  const PosteriorMoments& moments;
  std::size_t block;

  [[nodiscard]] std::size_t size() const { return moments.shape.size(block); }
  [[nodiscard]] double rank() const { return moments.shape.rank[block]; }
  [[nodiscard]] std::size_t row(std::size_t field, std::size_t i) const {
    return (moments.shape.first(block) + field) * moments.count + i;
  }
  /// Entry (t, s), s <= t, of the second moments.
  [[nodiscard]] std::size_t pair(std::size_t t, std::size_t s, std::size_t i) const {
    return (moments.shape.first_pair(block) + t * (t + 1) / 2 + s) * moments.count + i;
  }
};

/// E|<zeta>|^2 [smi 14].
Contribution gain(const BlockView& v, std::size_t i) {
  Contribution c{0.0, 0.0};
  const auto& [first, second] = v.moments.half;
  for (std::size_t t = 0; t < v.size(); ++t) {
    const std::size_t at = v.row(t, i);
    const double a = first.mean[at];
    const double b = second.mean[at];
    c.product += a * b;
    c.monitor += a * second.mean_bias[at] + first.mean_bias[at] * b;
  }
  return {c.product / v.rank(), c.monitor / v.rank()};
}

/// For a block at overlap 0, E||T||_F^2 with T = <zeta zeta^T> - I [smi 16].
Contribution growth(const BlockView& v, std::size_t i) {
  Contribution c{0.0, 0.0};
  const auto& [first, second] = v.moments.half;
  for (std::size_t t = 0; t < v.size(); ++t) {
    for (std::size_t s = 0; s <= t; ++s) {
      const double unit = s == t ? 1.0 : 0.0;
      const double multiplicity = s == t ? 1.0 : 2.0;
      const std::size_t at = v.pair(t, s, i);
      const double a = first.second[at] - unit;
      const double b = second.second[at] - unit;
      c.product += multiplicity * a * b;
      c.monitor += multiplicity * (a * second.second_bias[at] + first.second_bias[at] * b);
    }
  }
  return {c.product / v.rank(), c.monitor / v.rank()};
}

/// Entry (s, t) of the second moments' sum over the directions of a block, minus the same of I.
double token_second(const BlockView& v, const std::vector<double>& second, std::size_t s,
                    std::size_t t, std::size_t i) {
  const auto tokens = static_cast<std::size_t>(v.moments.shape.tokens);
  double sum = s == t ? -v.rank() : 0.0;
  for (std::size_t p = 0; p < v.size(); p += tokens) {
    sum += second[v.pair(p + std::max(s, t), p + std::min(s, t), i)];
  }
  return sum;
}

/// The covariance of the learned block, minus I, against T of the open one [smi 35]. The mean's
/// square takes one factor from either half.
double cross(const BlockView& learned, const BlockView& open, std::size_t i) {
  const auto tokens = static_cast<std::size_t>(learned.moments.shape.tokens);
  const auto& half = learned.moments.half;
  double sum = 0.0;
  for (std::size_t s = 0; s < tokens; ++s) {
    for (std::size_t t = 0; t < tokens; ++t) {
      double square = 0.0;  // the square of the mean
      for (std::size_t p = 0; p < learned.size(); p += tokens) {
        square += 0.5 * (half[0].mean[learned.row(p + s, i)] * half[1].mean[learned.row(p + t, i)] +
                         half[1].mean[learned.row(p + s, i)] * half[0].mean[learned.row(p + t, i)]);
      }
      for (std::size_t h = 0; h < 2; ++h) {
        sum += 0.5 * (token_second(learned, half[h].second, s, t, i) - square) *
               token_second(open, half[1 - h].second, s, t, i);
      }
    }
  }
  return sum / (learned.rank() * open.rank());
}

/// <|zeta|^2> - size: expectation 0 by the Nishimori identity [smi 15].
struct Control {
  double value;
  double monitor;  // the bias that it had before corrections
};

Control control(const BlockView& v, std::size_t i) {
  const auto& [first, second] = v.moments.half;
  Control c{-static_cast<double>(v.size()), 0.0};
  for (std::size_t t = 0; t < v.size(); ++t) {
    const std::size_t at = v.pair(t, t, i);
    c.value += 0.5 * (first.second[at] + second.second[at]);
    c.monitor += 0.5 * (first.second_bias[at] + second.second_bias[at]);
  }
  return c;
}

/// <zeta> . zeta* with the mean of the two inner estimates.
double agreement(const BlockView& v, std::span<const double> zeta, std::size_t i) {
  double sum = 0.0;
  for (std::size_t t = 0; t < v.size(); ++t) {
    const std::size_t at = v.row(t, i);
    sum += 0.5 * (v.moments.half[0].mean[at] + v.moments.half[1].mean[at]) * zeta[at];
  }
  return sum / v.rank();
}

/// log Z of one sample. The logarithm of an average is too low by a bias that pooling the two inner
/// estimates halves: what pooling gains is as large as the bias left, and is added once more.
struct Evidence {
  double log_z;
  double pooling;
};

Evidence evidence(const PosteriorMoments& m, std::size_t i) {
  const double a = m.half[0].log_z[i];
  const double b = m.half[1].log_z[i];
  const double pooled =
      std::fmax(a, b) + std::log1p(std::exp(-std::abs(a - b))) - std::numbers::ln2;
  const double pooling = pooled - 0.5 * (a + b);
  return {pooled + pooling, pooling};
}

/// Where nothing is known of the samples: the log densities of their labels [links 19].
PosteriorMoments without_knowledge(const Posterior& posterior, const FieldShape& shape,
                                   const TeacherBatch& teacher, const NormalBatch& normals) {
  const std::vector<double> omega(teacher.omega.size(), 0.0);
  const std::vector<double> variance(shape.blocks(), 1.0);
  PosteriorMoments moments(shape, normals.count);
  posterior.moments({normals.count, teacher.label, omega, variance, normals.first,
                     normals.replicate, teacher.field},
                    moments);
  return moments;
}

/// Shortens the moments of a sample's block where they are longer than any posterior makes them,
/// because all nodes have missed what is left of the prior there.
void limit(const BlockView& v, PosteriorMoments::Half& half, std::size_t i) {
  const double longest = std::sqrt(static_cast<double>(v.size())) + tail_length;
  double mean = 0.0;
  double second = 0.0;
  for (std::size_t t = 0; t < v.size(); ++t) {
    mean += half.mean[v.row(t, i)] * half.mean[v.row(t, i)];
    second += half.second[v.pair(t, t, i)];
  }
  if (mean > longest * longest) {
    const double factor = longest / std::sqrt(mean);
    for (std::size_t t = 0; t < v.size(); ++t) half.mean[v.row(t, i)] *= factor;
  }
  if (second > longest * longest) {
    const double factor = longest * longest / second;
    for (std::size_t t = 0; t < v.size(); ++t) {
      for (std::size_t s = 0; s <= t; ++s) half.second[v.pair(t, s, i)] *= factor;
    }
  }
}

/// Subtracts from the moments the bias that finitely many nodes add [smi 27], and limits them.
void correct(PosteriorMoments& moments) {
  for (PosteriorMoments::Half& half : moments.half) {
    for (std::size_t k = 0; k < half.mean.size(); ++k) half.mean[k] -= half.mean_bias[k];
    for (std::size_t k = 0; k < half.second.size(); ++k) half.second[k] -= half.second_bias[k];
    for (std::size_t b = 0; b < moments.shape.blocks(); ++b) {
      for (std::size_t i = 0; i < moments.count; ++i) limit({moments, b}, half, i);
    }
  }
}

/// Throws if a number is not finite: further on it must never pass for a small one.
void require_finite(const ChannelInformation& info) {
  const auto finite = [](const numerics::Replicates& values) {
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
  };
  bool all = finite(info.log_evidence);
  for (const auto& values : info.gain) all = all && finite(values);
  for (const auto& values : info.growth) all = all && finite(values);
  if (!all) {
    throw Refused(
        "the integrals of this model are not finite in double precision: its attention "
        "matrices are nearly singular (skip 0, or a very large inverse temperature)");
  }
}

/// A learned block and one at overlap 0 whose mean vanishes by symmetry.
struct CrossPair {
  std::size_t learned;
  std::size_t open;
};

std::vector<CrossPair> cross_pairs(const SequenceModel& model, const std::vector<bool>& learned) {
  std::vector<CrossPair> pairs;
  for (std::size_t b = 0; b < learned.size(); ++b) {
    for (std::size_t n = 0; n < learned.size(); ++n) {
      if (learned[b] && !learned[n] && model.even(n)) pairs.push_back({b, n});
    }
  }
  return pairs;
}

double bias_bound(double share, const numerics::Replicates& monitor) {
  return share * std::abs(numerics::mean(monitor));
}

/// What the inner integration's bias of the blocks' controls may have added to one target.
double bias_from_controls(const numerics::ControlledExpectation& means, std::size_t blocks,
                          std::size_t target) {
  double sum = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    sum += std::abs(means.coefficient[target][b]) *
           bias_bound(bias_left, means.target[outputs_per_block * b + control_monitor]);
  }
  return sum;
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

Channel::Channel(const SequenceModel& model, const ChannelOptions& options)
    : model_(std::shared_ptr<const SequenceModel>(), &model), options_(options) {
  options_.validate();
  posterior_ = model_->posterior({options.nodes, options.seed});
}

Channel::Channel(const DeepAttention& model, const ChannelOptions& options)
    : model_(attention_model(model)), options_(options) {
  options_.validate();
  posterior_ = model_->posterior({options.nodes, options.seed});
}

ChannelInformation Channel::at(std::span<const double> variance, const Context& context) const {
  const std::vector<double> same(variance.begin(), variance.end());
  return evaluate(std::vector(static_cast<std::size_t>(options_.replicates), same), context);
}

ChannelInformation Channel::at(const std::vector<numerics::Replicates>& variance,
                               const Context& context) const {
  const auto replicates = static_cast<std::size_t>(options_.replicates);
  std::vector<std::vector<double>> by_replicate(replicates);
  for (const numerics::Replicates& values : variance) {
    if (values.size() != replicates) {
      throw InvalidArgument("variance", "needs one value per replicate");
    }
    const auto open = std::count(values.begin(), values.end(), 1.0);
    if (open != 0 && open != options_.replicates) {
      throw InvalidArgument("variance", "allowed: 1 in all replicates of a block, or in none");
    }
    for (std::size_t r = 0; r < replicates; ++r) by_replicate[r].push_back(values[r]);
  }
  return evaluate(by_replicate, context);
}

ChannelInformation Channel::evaluate(const std::vector<std::vector<double>>& variances,
                                     const Context& context) const {
  const FieldShape& shape = model_->shape();
  const std::size_t blocks = shape.blocks();
  for (const auto& variance : variances) {
    if (variance.size() != blocks) throw InvalidArgument("variance", "needs one value per block");
    for (const double v : variance) {
      if (!(v > 0.0 && v <= 1.0)) throw InvalidArgument("variance", "allowed: numbers in (0, 1]");
    }
  }
  std::vector<bool> is_learned;
  for (const double v : variances.front()) is_learned.push_back(v < 1.0);
  const bool any_learned =
      std::find(is_learned.begin(), is_learned.end(), true) != is_learned.end();
  // The targets are those of every block, those of pairs, and the evidence; the controls are one
  // per block and the importance weight.
  const std::vector<CrossPair> pairs = cross_pairs(*model_, is_learned);
  const std::size_t first_pair = outputs_per_block * blocks;
  const std::size_t evidence_row = first_pair + pairs.size();
  const int targets = static_cast<int>(evidence_row) + 2;
  numerics::ExpectationOptions rule;
  rule.dimensions = teacher_dimensions(*model_);
  // The log density of a label where nothing is known goes with the squares of the fields that made
  // it, whose means are known: they are controls there.
  const std::size_t squares_row = static_cast<std::size_t>(targets) + blocks + 1;
  rule.outputs = static_cast<int>(squares_row + (options_.label_law ? blocks : 0));
  rule.points = options_.points;
  rule.replicates = options_.replicates;
  rule.seed = options_.seed;

  const auto integrand = [&](const NormalBatch& normals, std::span<double> out) {
    const std::size_t count = normals.count;
    const std::vector<double>& variance = variances[normals.replicate];
    const TeacherBatch teacher = teacher_batch(*model_, variance, normals);
    PosteriorMoments moments(shape, count);
    posterior_->moments({count, teacher.label, teacher.omega, variance, normals.first,
                         normals.replicate, teacher.field},
                        moments);
    if (!posterior_->exact()) correct(moments);
    const auto row = [&](std::size_t output) { return out.data() + output * count; };
    for (std::size_t b = 0; b < blocks; ++b) {
      const BlockView view{moments, b};
      const std::size_t base = outputs_per_block * b;
      for (std::size_t i = 0; i < count; ++i) {
        const double w = teacher.weight[i];
        const Contribution g = gain(view, i);
        const Contribution f = is_learned[b] ? Contribution{0.0, 0.0} : growth(view, i);
        row(base + gain_of)[i] = w * g.product;
        row(base + gain_monitor)[i] = w * g.monitor;
        row(base + growth_of)[i] = w * f.product;
        row(base + growth_monitor)[i] = w * f.monitor;
        row(base + agreement_of)[i] = w * agreement(view, teacher.zeta, i);
        const Control c = control(view, i);
        row(base + control_monitor)[i] = w * c.monitor;
        row(static_cast<std::size_t>(targets) + b)[i] = w * c.value;
        if (!options_.label_law) continue;
        double square = -static_cast<double>(view.size());
        for (std::size_t field = 0; field < view.size(); ++field) {
          square += std::pow(teacher.field[view.row(field, i)], 2.0);
        }
        row(squares_row + b)[i] = w * square;
      }
    }
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const BlockView learned{moments, pairs[k].learned};
      const BlockView open{moments, pairs[k].open};
      for (std::size_t i = 0; i < count; ++i) {
        row(first_pair + k)[i] = teacher.weight[i] * cross(learned, open, i);
      }
    }
    std::optional<PosteriorMoments> zero;
    if (options_.label_law && any_learned) {
      zero = without_knowledge(*posterior_, shape, teacher, normals);
    }
    for (std::size_t i = 0; i < count; ++i) {
      Evidence e = evidence(moments, i);
      if (options_.label_law) {
        const Evidence known = zero ? evidence(*zero, i) : e;
        e = {e.log_z - known.log_z, e.pooling - known.pooling};
      }
      row(evidence_row)[i] = teacher.weight[i] * e.log_z;
      row(evidence_row + 1)[i] = teacher.weight[i] * e.pooling;
      row(static_cast<std::size_t>(targets) + blocks)[i] = teacher.weight[i] - 1.0;
    }
  };
  auto means = numerics::gaussian_expectation_with_controls(rule, targets, integrand, context);
  const auto bound = [&](std::size_t target, double share, std::size_t monitor) {
    return bias_bound(share, means.target[monitor]) + bias_from_controls(means, blocks, target);
  };

  ChannelInformation info;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t base = outputs_per_block * b;
    auto* of_block = means.target.data() + base;
    const bool learned = is_learned[b];
    // Symmetry makes it exactly 0, inner integrals only approximately.
    const bool none = !learned && model_->even(b);
    if (none) of_block[gain_of].assign(of_block[gain_of].size(), 0.0);
    info.gain.push_back(std::move(of_block[gain_of]));
    info.gain_bias.push_back(none ? 0.0 : bound(base + gain_of, bias_left, base + gain_monitor));
    info.growth.push_back(learned ? numerics::Replicates{} : std::move(of_block[growth_of]));
    info.growth_bias.push_back(learned ? 0.0
                                       : bound(base + growth_of, bias_left, base + growth_monitor));
    info.agreement.push_back(std::move(of_block[agreement_of]));
  }
  info.cross.resize(blocks * blocks);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    info.cross[pairs[k].learned * blocks + pairs[k].open] = std::move(means.target[first_pair + k]);
  }
  info.log_evidence = std::move(means.target[evidence_row]);
  info.log_evidence_bias = bound(evidence_row, 1.0, evidence_row + 1);
  if (options_.label_law) {
    for (double& psi : info.log_evidence) psi += options_.label_law->value;
    info.log_evidence_shared = options_.label_law->error;
  }
  require_finite(info);
  return info;
}

}  // namespace onset::smi
