#include "smi/limits/block_leaps.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "numerics/linear_algebra/dense.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "smi/limits/channel_at_zero.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

constexpr std::size_t plain_points = 4096;
constexpr std::size_t plain_replicates = 16;
/// Samples whose moments are added by one product of matrices.
constexpr std::size_t together = 256;

/// Means over samples of every product of a prediction with z_f, and with z_f z_g - delta_fg of one
/// block: prediction after prediction.
struct PlainMoments {
  std::vector<double> products;
  double variance = 0.0;
};

/// The fields of a sample, then h_2 of every field and the products of two of one block.
void write_hermites(const FieldShape& shape, const double* x, double* out) {
  out = std::copy_n(x, shape.fields(), out);
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const double* own = x + shape.first(b);
    for (std::size_t f = 0; f < shape.size(b); ++f) {
      for (std::size_t g = 0; g < f; ++g) *out++ = own[f] * own[g];
      *out++ = (own[f] * own[f] - 1.0) / std::sqrt(2.0);
    }
  }
}

PlainMoments plain_moments(const SequenceModel& model, std::uint64_t seed, std::uint64_t set,
                           const Context& context) {
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
  const std::size_t terms = fields + shape.all_pairs();
  PlainMoments moments{std::vector<double>(outputs * terms, 0.0)};
  std::vector<double> hermites(together * terms), part(outputs * terms);
  for (std::size_t first = 0; first < plain_points; first += together) {
    context.check();
    double* labels = y.data() + first * outputs;
    for (std::size_t i = 0; i < together; ++i) {
      write_hermites(shape, z.data() + (first + i) * fields, hermites.data() + i * terms);
      for (std::size_t o = 0; o < outputs; ++o) {
        double& label = labels[i * outputs + o];
        label -= mean[o];
        moments.variance += label * label / plain_points;
      }
    }
    numerics::transpose_multiply({labels, together, outputs}, {hermites.data(), together, terms},
                                 part, context);
    for (std::size_t k = 0; k < part.size(); ++k) moments.products[k] += part[k] / plain_points;
  }
  return moments;
}

/// The sums over labels of products of moments, of the fields and of degree 2.
std::pair<double, double> weights_of(const PlainMoments& a, const PlainMoments& b,
                                     const FieldShape& shape) {
  const std::size_t terms = shape.fields() + shape.all_pairs();
  double first = 0.0, second = 0.0;
  for (std::size_t k = 0; k < a.products.size(); ++k) {
    (k % terms < shape.fields() ? first : second) += a.products[k] * b.products[k];
  }
  const double variance = 0.5 * (a.variance + b.variance);
  return {first / variance, second / variance};
}

void add_plain(const SequenceModel& model, std::uint64_t seed, const Context& context,
               BlockLeaps& to) {
  Replicates first(plain_replicates), second(plain_replicates);
  numerics::parallel_for(context, plain_replicates, [&](std::size_t r) {
    const PlainMoments a = plain_moments(model, seed, 2 * r, context);
    const PlainMoments b = plain_moments(model, seed, 2 * r + 1, context);
    std::tie(first[r], second[r]) = weights_of(a, b, model.shape());
  });
  to.plain_first = numerics::reduce(first);
  to.plain_second = numerics::reduce(second);
}

}  // namespace

double plain_leap_seconds(const SequenceModel& model) {
  constexpr double seconds_per_product = 5e-11;  // measured
  const FieldShape& shape = model.shape();
  const auto terms = static_cast<double>(shape.fields() + shape.all_pairs());
  return seconds_per_product * 2.0 * plain_replicates * plain_points * model.prediction_size() *
         terms;
}

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
