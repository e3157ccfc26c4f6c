#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/quadrature/gaussian_expectation.hpp"
#include "numerics/random/stream.hpp"
#include "ssi/limits/origin/origin_methods.hpp"
#include "ssi/limits/spectrum/token_parts.hpp"

namespace onset::ssi {
namespace {

/// sigma_s = E[sigma h_s], s = 0, .., degree, by a finer and a coarser rule.
std::pair<std::vector<double>, std::vector<double>> activation_coefficients(
    const numerics::Expression& activation, std::size_t degree, const Context& context) {
  const auto bracket = project_exactly(activation_part(activation), degree, context);
  std::pair<std::vector<double>, std::vector<double>> sigma;
  for (std::size_t s = 0; s <= degree; ++s) {
    sigma.first.push_back(bracket->fine.series.at(0, s));
    sigma.second.push_back(bracket->coarse.series.at(0, s));
  }
  return sigma;
}

/// E[g h_s(zbar)], zbar = L^{-1/2} sum_i z_i, by quasi-Monte Carlo where coefficients are missing.
std::vector<Estimate> sampled_along_mean(const Link& target, std::size_t degree, std::uint64_t seed,
                                         const Context& context) {
  numerics::ExpectationOptions options;
  options.dimensions = static_cast<int>(target.tokens());
  options.outputs = static_cast<int>(degree + 1);
  options.points = 1 << 13;
  options.seed = seed;
  const auto replicates = numerics::gaussian_expectation(
      options,
      [&](const numerics::NormalBatch& batch, std::span<double> out) {
        std::vector<double> g(batch.count);
        std::vector<double> h(degree + 1);
        target.values(batch.count, batch.normals.data(), g.data());
        const double scale = 1.0 / std::sqrt(static_cast<double>(target.tokens()));
        for (std::size_t p = 0; p < batch.count; ++p) {
          double mean = 0.0;
          for (std::size_t i = 0; i < target.tokens(); ++i)
            mean += batch.normals[i * batch.count + p];
          numerics::hermite_polynomials(mean * scale, h);
          for (std::size_t s = 0; s <= degree; ++s) out[s * batch.count + p] = g[p] * h[s];
        }
      },
      context);
  std::vector<Estimate> result;
  for (const auto& r : replicates) result.push_back(numerics::reduce(r));
  return result;
}

/// The largest eigenvalue of sign * A, where v^T A v = E[g h_2(<v, z>)].
double max_curvature(const HermiteCoefficients& g, double sign) {
  const auto n = static_cast<Eigen::Index>(g.tokens);
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n, n);
  for (const auto& [k, value] : g.values) {
    std::vector<Eigen::Index> axes;
    for (std::size_t i = 0; i < k.size(); ++i) {
      for (std::size_t j = 0; j < k[i]; ++j) axes.push_back(static_cast<Eigen::Index>(i));
    }
    if (axes.size() != 2) continue;
    if (axes[0] == axes[1]) {
      a(axes[0], axes[0]) = sign * value[0];
    } else {
      a(axes[0], axes[1]) = a(axes[1], axes[0]) = sign * value[0] / std::sqrt(2.0);
    }
  }
  return numerics::symmetric_eigen(a).values.maxCoeff();
}

/// The largest value of sigma_s E[g h_s(<v, z>)] over unit vectors v. It is exact for s <= 2;
/// otherwise it is taken over axes, signed diagonals and random directions, which is enough for its
/// sign.
double max_form(const HermiteCoefficients& g, std::size_t s, double sigma) {
  if (s == 2) return std::abs(sigma) * max_curvature(g, sigma < 0.0 ? -1.0 : 1.0);
  if (s == 1) {
    double square = 0.0;
    for (std::size_t i = 0; i < g.tokens; ++i) {
      std::vector<double> axis(g.tokens, 0.0);
      axis[i] = 1.0;
      square += std::pow(g.along(axis, 1), 2);
    }
    return std::abs(sigma) * std::sqrt(square);
  }
  constexpr std::size_t trials = 256;
  double best = -INFINITY;
  numerics::Stream stream(1, "ssi untied directions", s);
  for (std::size_t trial = 0; trial < trials + g.tokens; ++trial) {
    std::vector<double> v(g.tokens, 0.0);
    if (trial < g.tokens) {
      v[trial] = 1.0;
    } else {
      stream.normal(v);
    }
    double square = 0.0;
    for (const double x : v) square += x * x;
    for (double& x : v) x /= std::sqrt(square);
    const double value = sigma * g.along(v, s);
    best = std::max(best, s % 2 == 1 ? std::abs(value) : value);
  }
  return best;
}

}  // namespace

OriginExpansion activation_origin(const SequenceModel& model, const Spectrum& spectrum,
                                  std::uint64_t seed, const Context& context) {
  const std::size_t degree = spectrum.degrees.size() - 1;
  const bool untied = model.student.vector_per_token;
  const auto [fine, coarse] = activation_coefficients(*model.student.activation, degree, context);
  std::vector<Estimate> sampled;
  if (!spectrum.exact) sampled = sampled_along_mean(*model.target, degree, seed, context);
  OriginExpansion origin = blank_origin(degree, false);
  const std::vector<double> mean(model.tokens(),
                                 1.0 / std::sqrt(static_cast<double>(model.tokens())));
  for (std::size_t s = 1; s <= degree; ++s) {
    const double change = std::abs(fine[s] - coarse[s]);
    Estimate& c = origin.visible[s];
    if (!spectrum.exact) {
      c = {fine[s] * sampled[s].value, std::abs(fine[s]) * sampled[s].error};
    } else {
      const auto seen = [&](const HermiteCoefficients& target, double sigma) {
        return untied ? max_form(target, s, sigma) : sigma * target.along(mean, s);
      };
      c.value = seen(spectrum.coefficients, fine[s]);
      c.error = std::abs(c.value - seen(spectrum.coarse, coarse[s]));
    }
    // An activation without this degree sees none of it.
    if (std::abs(fine[s]) <= 4.0 * change + 1e-12) c.value = 0.0;
    origin.taylor[0][s] = {-c.value, c.error};
  }
  return origin;
}

}  // namespace onset::ssi
