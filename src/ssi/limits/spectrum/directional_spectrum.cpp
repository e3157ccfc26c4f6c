// The directional test. E[g(z) h_s(<u, z>)] is the degree-s part of g in the direction u, so a
// degree that vanishes does so in every direction. [ssi 10]
#include "ssi/limits/spectrum/directional_spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "core/prose.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"

namespace onset::ssi {
namespace {

constexpr std::size_t directions = 24;
constexpr std::size_t block = 512;
/// A degree is present if the statistic exceeds its mean under absence by this many standard
/// deviations.
constexpr double threshold = 6.0;
/// A degree is called absent only if this part of E g^2 would have shown.
constexpr double visible_part = 1e-2;

struct Sums {
  double first = 0.0;   ///< the sum of g
  double second = 0.0;  ///< the sum of g^2
  std::vector<double> moment;
  std::vector<double> square;
};

std::vector<double> unit_vectors(std::size_t count, std::size_t dimensions, std::uint64_t seed) {
  std::vector<double> u(count * dimensions);
  numerics::Stream(seed, "ssi directions", 0).normal(u);
  for (std::size_t q = 0; q < count; ++q) {
    double square = 0.0;
    for (std::size_t i = 0; i < dimensions; ++i)
      square += u[q * dimensions + i] * u[q * dimensions + i];
    for (std::size_t i = 0; i < dimensions; ++i) u[q * dimensions + i] /= std::sqrt(square);
  }
  return u;
}

/// A matrix target is seen through one random combination of its outputs.
void scalar_values(const Link& target, const std::vector<double>& mix, std::size_t count,
                   const double* z, double* g) {
  std::vector<double> all(target.outputs() * count);
  target.values(count, z, all.data());
  std::fill_n(g, count, 0.0);
  for (std::size_t k = 0; k < target.outputs(); ++k) {
    for (std::size_t p = 0; p < count; ++p) g[p] += mix[k] * all[k * count + p];
  }
}

Sums sample_block(const Link& target, const std::vector<double>& u, const std::vector<double>& mix,
                  std::size_t degree, std::uint64_t seed, std::size_t index) {
  const std::size_t tokens = target.tokens();
  std::vector<double> z(tokens * block);
  std::vector<double> g(block);
  numerics::Stream(seed, "ssi directional", index).normal(z);
  scalar_values(target, mix, block, z.data(), g.data());
  Sums sums{0.0, 0.0, std::vector<double>(directions * (degree + 1), 0.0),
            std::vector<double>(directions * (degree + 1), 0.0)};
  std::vector<double> h(degree + 1);
  for (std::size_t p = 0; p < block; ++p) {
    sums.first += g[p];
    sums.second += g[p] * g[p];
    for (std::size_t q = 0; q < directions; ++q) {
      double field = 0.0;
      for (std::size_t i = 0; i < tokens; ++i) field += u[q * tokens + i] * z[i * block + p];
      numerics::hermite_polynomials(field, h);
      for (std::size_t s = 1; s <= degree; ++s) {
        const double x = g[p] * h[s];
        sums.moment[q * (degree + 1) + s] += x;
        sums.square[q * (degree + 1) + s] += x * x;
      }
    }
  }
  return sums;
}

/// sum_{uv} (u.v)^{2s}.
double correlation(const std::vector<double>& u, std::size_t tokens, std::size_t s) {
  double total = 0.0;
  for (std::size_t a = 0; a < directions; ++a) {
    for (std::size_t b = 0; b < directions; ++b) {
      double dot = 0.0;
      for (std::size_t i = 0; i < tokens; ++i) dot += u[a * tokens + i] * u[b * tokens + i];
      total += std::pow(dot, 2.0 * static_cast<double>(s));
    }
  }
  return total;
}

/// E over directions of the squared projection of a traceless degree-s form of weight 1.
double directional_part(std::size_t tokens, std::size_t s) {
  double part = 1.0;
  for (std::size_t j = 0; j < s; ++j) {
    part *= (static_cast<double>(j) + 1.0) / static_cast<double>(tokens + 2 * j);
  }
  return part;
}

}  // namespace

Spectrum directional_spectrum(const Link& target, std::size_t degree,
                              const SpectrumOptions& options, const Context& context) {
  const std::size_t tokens = target.tokens();
  const std::size_t blocks = (options.samples + block - 1) / block;
  const auto n = static_cast<double>(blocks * block);
  const std::vector<double> u = unit_vectors(directions, tokens, options.seed);
  std::vector<double> mix{1.0};
  if (target.outputs() > 1) mix = unit_vectors(1, target.outputs(), options.seed + 1);

  std::vector<Sums> sums(blocks);
  numerics::parallel_for(context, blocks, [&](std::size_t b) {
    sums[b] = sample_block(target, u, mix, degree, options.seed, b);
  });
  Sums all = sums[0];
  for (std::size_t b = 1; b < blocks; ++b) {
    all.first += sums[b].first;
    all.second += sums[b].second;
    for (std::size_t i = 0; i < all.moment.size(); ++i) {
      all.moment[i] += sums[b].moment[i];
      all.square[i] += sums[b].square[i];
    }
  }

  Spectrum spectrum;
  spectrum.exact = false;
  spectrum.square = all.second / n;
  if (!std::isfinite(spectrum.square)) {
    throw Refused("the target has no finite value somewhere, so it has no Hermite expansion");
  }
  spectrum.degrees.resize(degree + 1);
  spectrum.degrees[0].weight.value = std::pow(all.first / n, 2);
  spectrum.degrees[0].weight.error = 2.0 * std::abs(all.first / n) * std::sqrt(spectrum.square / n);
  constexpr auto q = static_cast<double>(directions);
  for (std::size_t s = 1; s <= degree; ++s) {
    double statistic = 0.0;
    double power = 0.0;
    double noise = 0.0;
    double fourth = 0.0;
    for (std::size_t a = 0; a < directions; ++a) {
      const double mean = all.moment[a * (degree + 1) + s] / n;
      const double variance = all.square[a * (degree + 1) + s] / n - mean * mean;
      if (variance > 0.0) statistic += n * mean * mean / variance;
      power += mean * mean / q;
      fourth += mean * mean * mean * mean / q;
      noise += variance / n / q;
    }
    const double spread = std::sqrt(2.0 * correlation(u, tokens, s));
    const double part = directional_part(tokens, s);
    Spectrum::Degree& d = spectrum.degrees[s];
    d.weight.value = std::max(0.0, power - noise) / part;
    // The noise comes from the samples and from the finite number of directions.
    const double scatter = std::sqrt(std::max(0.0, fourth - power * power) / (q - 1.0));
    d.weight.error = (noise * spread / q + 2.0 * std::sqrt(power * noise / q) + scatter) / part;
    const double would_show = threshold * spread / q * noise / part;
    if (statistic > q + threshold * spread) {
      d.presence = Presence::present;
    } else if (would_show < visible_part * spectrum.square) {
      d.presence = Presence::absent;
    }
  }
  spectrum.remarks.push_back(prose(R"(
      The target couples too many tokens for quadrature: degrees were tested by Monte Carlo in
      random directions. Weights are those of a traceless form, and absent means below a
      hundredth of E g^2.)"));
  return spectrum;
}

}  // namespace onset::ssi
