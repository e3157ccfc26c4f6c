#include "mha/model/instance.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"

namespace onset::mha {
namespace {

constexpr std::size_t chunk = 4096;
/// The ratio of consecutive proportional projections.
constexpr double proportion = 0.7;

std::span<double> head_of(std::vector<double>& matrices, int head, int dim) {
  const auto size = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
  return std::span(matrices).subspan(static_cast<std::size_t>(head) * size, size);
}

std::vector<double> gaussian(std::uint64_t seed, const char* purpose, int index, int dim,
                             double deviation) {
  std::vector<double> out(static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim));
  numerics::Stream(seed, purpose, static_cast<std::uint64_t>(index)).normal(out);
  for (double& value : out) value *= deviation;
  return out;
}

void draw_theta(const InstanceLaw& law, std::uint64_t seed, Layer& layer) {
  const double deviation = law.scale / law.dim;
  const std::vector<double> common = gaussian(seed, "mha common theta", 0, law.dim, deviation);
  for (int i = 0; i < law.heads; ++i) {
    const std::vector<double> own = gaussian(seed, "mha theta", i, law.dim, deviation);
    const std::span<double> theta = head_of(layer.theta, i, law.dim);
    for (std::size_t c = 0; c < theta.size(); ++c) {
      theta[c] = law.coherence > 0.0 ? common[c] + law.coherence * own[c] : own[c];
    }
  }
}

/// theta_i = beta e_0 (1_S + t_i e_1)^T with thresholds t_i halfway between the values of half the
/// difference of two tokens' sums over S, and one w with alternating signs: where two tokens differ
/// in bit 1, the parity of their bits in S [mha 28].
void make_parity(const InstanceLaw& law, Layer& layer) {
  const auto dim = static_cast<std::size_t>(law.dim);
  const std::size_t bits = std::min<std::size_t>(dim - 2, static_cast<std::size_t>(law.heads / 2));
  for (int i = 0; i < law.heads; ++i) {
    const std::span<double> theta = head_of(layer.theta, i, law.dim);
    std::fill(theta.begin(), theta.end(), 0.0);
    for (std::size_t c = 2; c < 2 + bits; ++c) theta[c] = law.scale;
    theta[1] = law.scale * (i + 0.5 - 0.5 * law.heads);
    const std::span<double> w = head_of(layer.w, i, law.dim);
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    for (std::size_t c = 0; c < w.size(); ++c) w[c] = sign * layer.w[c];
  }
}

void pull_towards(std::span<double> w, std::span<const double> target, double degree) {
  for (std::size_t c = 0; c < w.size(); ++c) w[c] += degree * (target[c] - w[c]);
}

void degenerate(const InstanceLaw& law, Layer& layer) {
  const auto size = static_cast<std::size_t>(law.dim) * static_cast<std::size_t>(law.dim);
  std::vector<double> target(size);
  if (law.degeneracy == Degeneracy::cancelling) {
    for (int i = 0; i + 1 < law.heads; ++i) {
      for (std::size_t c = 0; c < size; ++c) target[c] -= layer.w_of(i)[c];
    }
    pull_towards(head_of(layer.w, law.heads - 1, law.dim), target, law.degree);
  } else if (law.degeneracy == Degeneracy::proportional) {
    for (int i = 1; i < law.heads; ++i) {
      for (std::size_t c = 0; c < size; ++c) target[c] = std::pow(proportion, i) * layer.w[c];
      pull_towards(head_of(layer.w, i, law.dim), target, law.degree);
    }
  } else if (law.degeneracy == Degeneracy::parity) {
    make_parity(law, layer);
  }
}

[[noreturn]] void wrong(const char* field, const std::string& message) {
  throw InvalidArgument(field, message);
}

/// Calls f(stream, first, end) for blocks of entries of all examples, each with a stream of its
/// own.
template <class F>
void for_each_block(const Examples& examples, std::uint64_t seed, const std::string& purpose,
                    const Context& context, F&& f) {
  const std::size_t chunks = (examples.count + chunk - 1) / chunk;
  numerics::parallel_for(context, chunks, [&](std::size_t block) {
    numerics::Stream stream(seed, purpose, block);
    const std::size_t end = std::min(examples.count, (block + 1) * chunk) * examples.width();
    f(stream, block * chunk * examples.width(), end);
  });
}

void draw_signs(numerics::Stream& stream, std::span<std::int8_t> out) {
  std::uint64_t word = 0;
  int left = 0;
  for (std::int8_t& sign : out) {
    if (left == 0) {
      word = stream.bits();
      left = 64;
    }
    sign = (word & 1) != 0 ? 1 : -1;
    --left;
    word >>= 1;
  }
}

}  // namespace

void InstanceLaw::validate() const {
  if (heads < 1 || heads > max_heads) wrong("heads", "allowed: 1 to " + std::to_string(max_heads));
  if (dim < 2 || dim > max_dim) wrong("dim", "allowed: 2 to " + std::to_string(max_dim));
  if (tokens < 1) wrong("tokens", "allowed: 1 and more");
  if (!(scale >= 0.0) || !std::isfinite(scale)) wrong("scale", "allowed: 0 and more");
  if (!(coherence >= 0.0) || !std::isfinite(coherence)) wrong("coherence", "allowed: 0 and more");
  if (!(noise >= 0.0) || !std::isfinite(noise)) wrong("noise", "allowed: 0 and more");
  if (!(degree >= 0.0 && degree <= 1.0)) wrong("degree", "allowed: 0 to 1");
  if (degeneracy == Degeneracy::parity && (heads % 2 != 0 || dim < 2 + heads / 2)) {
    wrong("heads", "a parity needs an even number of heads and a dim of heads / 2 + 2 or more");
  }
  if (degeneracy == Degeneracy::parity && coherence > 0.0) {
    wrong("coherence", "has no effect on a parity, whose theta are not drawn; allowed: 0");
  }
  if (degeneracy == Degeneracy::parity && inputs != Inputs::boolean) {
    wrong("inputs", "a parity is one of bits; allowed: boolean");
  }
  if (is_pulled(degeneracy) && heads < 2) {
    wrong("heads", "one projection cannot cancel or be proportional; allowed: 2 and more");
  }
}

Layer draw_layer(const InstanceLaw& law, std::uint64_t seed) {
  law.validate();
  Layer layer = make_layer(law.heads, law.dim);
  draw_theta(law, seed, layer);
  for (int i = 0; i < law.heads; ++i) {
    const std::vector<double> own =
        gaussian(seed, "mha w", i, law.dim, 1.0 / std::sqrt(static_cast<double>(law.dim)));
    std::copy(own.begin(), own.end(), head_of(layer.w, i, law.dim).begin());
  }
  degenerate(law, layer);
  return layer;
}

Examples draw_examples(const InstanceLaw& law, const Layer& layer, std::size_t count,
                       std::uint64_t seed, const char* purpose, const Context& context) {
  law.validate();
  Examples out{count, law.tokens, law.dim, {}, {}};
  const bool real = law.inputs == Inputs::gaussian;
  if (real) {
    out.real_x.resize(count * out.width());
  } else {
    out.x.resize(count * out.width());
  }
  for_each_block(out, seed, purpose, context,
                 [&](numerics::Stream& stream, std::size_t first, std::size_t end) {
                   if (real) {
                     stream.normal(std::span(out.real_x).subspan(first, end - first));
                   } else {
                     draw_signs(stream, std::span(out.x).subspan(first, end - first));
                   }
                 });
  out.y = forward(layer, out, context);
  if (law.noise > 0.0) {
    for_each_block(out, seed, std::string(purpose) + " noise", context,
                   [&](numerics::Stream& stream, std::size_t first, std::size_t end) {
                     std::vector<double> draws(end - first);
                     stream.normal(draws);
                     for (std::size_t e = first; e < end; ++e) {
                       out.y[e] += law.noise * draws[e - first];
                     }
                   });
  }
  return out;
}

}  // namespace onset::mha
