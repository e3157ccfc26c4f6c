#include "smi/limits/block_leaps.hpp"

#include <cmath>

#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "smi/limits/channel_at_zero.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

constexpr std::size_t plain_points = 4096;
constexpr std::size_t plain_replicates = 16;

/// Sums over samples of every product of a prediction with z_f, and with z_f z_g - delta_fg of one
/// block.
struct PlainMoments {
  std::vector<double> first, second;
  double variance = 0.0;
};

PlainMoments plain_moments(const SequenceModel& model, std::uint64_t seed, std::uint64_t set) {
  const FieldShape& shape = model.shape();
  const std::size_t fields = shape.fields();
  const auto outputs = static_cast<std::size_t>(model.prediction_size());
  numerics::Stream stream(seed, "plain labels", set);
  std::vector<double> z(fields * plain_points), y(outputs * plain_points);
  stream.normal(z);
  std::vector<double> mean(outputs, 0.0);
  for (std::size_t i = 0; i < plain_points; ++i) {
    model.prediction({z.data() + i * fields, fields}, {y.data() + i * outputs, outputs});
    for (std::size_t o = 0; o < outputs; ++o) mean[o] += y[i * outputs + o] / plain_points;
  }
  PlainMoments sums{std::vector<double>(outputs * fields, 0.0),
                    std::vector<double>(outputs * shape.all_pairs(), 0.0)};
  for (std::size_t i = 0; i < plain_points; ++i) {
    const double* x = z.data() + i * fields;
    for (std::size_t o = 0; o < outputs; ++o) {
      const double part = (y[i * outputs + o] - mean[o]) / plain_points;
      sums.variance += part * (y[i * outputs + o] - mean[o]);
      for (std::size_t f = 0; f < fields; ++f) sums.first[o * fields + f] += part * x[f];
      std::size_t pair = o * shape.all_pairs();
      for (std::size_t b = 0; b < shape.blocks(); ++b) {
        for (std::size_t f = 0; f < shape.size(b); ++f) {
          for (std::size_t g = 0; g <= f; ++g, ++pair) {
            // h_2 of one field, or the product of two.
            const double a = x[shape.first(b) + f];
            const double h = f == g ? (a * a - 1.0) / std::sqrt(2.0) : a * x[shape.first(b) + g];
            sums.second[pair] += part * h;
          }
        }
      }
    }
  }
  return sums;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

void add_plain(const SequenceModel& model, std::uint64_t seed, const Context& context,
               BlockLeaps& to) {
  Replicates first(plain_replicates), second(plain_replicates);
  numerics::parallel_for(context, plain_replicates, [&](std::size_t r) {
    const PlainMoments a = plain_moments(model, seed, 2 * r);
    const PlainMoments b = plain_moments(model, seed, 2 * r + 1);
    const double variance = 0.5 * (a.variance + b.variance);
    first[r] = product(a.first, b.first) / variance;
    second[r] = product(a.second, b.second) / variance;
  });
  to.plain_first = numerics::reduce(first);
  to.plain_second = numerics::reduce(second);
}

}  // namespace

BlockLeaps block_leaps(const SequenceModel& model, std::uint64_t seed, const Context& context) {
  constexpr std::size_t nodes = 4096;
  const std::size_t blocks = model.shape().blocks();
  auto channel = model.channel_at_zero({.nodes = nodes, .seed = seed}, context);
  if (!channel) {
    channel = sampled_channel_at_zero(model, {.points = 1024, .nodes = 1024, .seed = seed},
                                      std::vector<double>(blocks, 1.0), context);
  }
  BlockLeaps out;
  Replicates sum(channel->growth.front().size(), 0.0);
  double bias = 0.0;
  for (std::size_t b = 0; b < blocks; ++b) {
    const double rank = model.shape().rank[b];
    out.first.push_back(
        numerics::reduce(numerics::map(channel->pull[b], [&](double x) { return rank * x; })));
    const Replicates own =
        numerics::map(channel->growth[b], [&](double x) { return 0.5 * rank * x; });
    const double own_bias = channel->relative_bias[b] * std::abs(numerics::mean(own));
    out.second.push_back(numerics::reduce(own, own_bias));
    for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += own[r];
    bias += own_bias;
  }
  out.second_sum = numerics::reduce(sum, bias);
  add_plain(model, seed, context, out);
  return out;
}

}  // namespace onset::smi
