#include <gtest/gtest.h>

#include <cmath>

#include "numerics/quadrature/gaussian_expectation.hpp"
#include "onset/smi/limits/channel.hpp"
#include "support/contexts.hpp"
#include "unit/smi/model/posterior/brute_force_posterior.hpp"

namespace onset::smi {
namespace {

using brute_force::Pair;

/// Student t of 15 degrees of freedom beyond 9: odds below 1e-6.
constexpr double far_out = 9.0;

/// Half the response of E g_1 . g_2 to an overlap across two layers, the first of which is not
/// learned, straight from its definition: the change of the mean of layer 1 when omega_1 becomes
/// omega_2 dQ / q and the prior gets a covariance -dQ. Third moments by the trapezoid rule.
double response(const brute_force::Question& q) {
  const double v = q.variance[1];
  const brute_force::Answer a = brute_force::solve(q, 2.0);
  const double t[2][2] = {{a.second[0][0] - 1.0, a.second[0][1]},
                          {a.second[0][1], a.second[0][2] - 1.0}};
  double sum = 0.0;
  for (std::size_t s = 0; s < 2; ++s) {
    double change = 0.0;
    for (std::size_t m = 0; m < 2; ++m) {
      const double third = a.third[s + m][m] - (s == m ? a.mean[1][m] : 0.0);
      change += t[s][m] * q.omega[1][m] / (1.0 - v) - third / std::sqrt(v);
    }
    sum += change * a.mean[1][s] * std::sqrt(v);  // (1 - q) g_2 = sqrt(V) <zeta_2>
  }
  return sum;
}

/// The label of two layers, in the plain token basis.
Pair label(double skip, const Pair& z1, const Pair& z2) {
  const double off1 = 1.0 / (1.0 + std::exp(z1[0] * (z1[0] - z1[1])));
  const double off2 = 1.0 / (1.0 + std::exp(z1[1] * (z1[1] - z1[0])));
  return {(1.0 - off1 + skip) * z2[0] + off1 * z2[1], off2 * z2[0] + (1.0 - off2 + skip) * z2[1]};
}

TEST(CrossGrowth, IsTheResponseToAnOverlapAcrossTwoLayers) {
  constexpr double skip = 0.3;
  constexpr double v = 0.6;
  DeepAttention model;
  model.layers = 2;
  model.tokens = 2;
  model.skip = {skip};
  ChannelOptions options;
  options.points = 512;
  const auto info =
      Channel(model, options).at(std::vector<double>{1.0, v}, testing::with_threads(2));
  ASSERT_FALSE(info.cross[1 * 2 + 0].empty());
  EXPECT_TRUE(info.cross[0 * 2 + 1].empty());

  numerics::ExpectationOptions rule;
  rule.dimensions = 6;
  rule.points = 256;
  const auto integrand = [&](const numerics::NormalBatch& normals, std::span<double> out) {
    for (std::size_t i = 0; i < normals.count; ++i) {
      const auto pair = [&](int d) {
        return Pair{normals.dimension(d)[i], normals.dimension(d + 1)[i]};
      };
      Pair omega = pair(2);
      Pair z2 = pair(4);
      for (std::size_t t = 0; t < 2; ++t) {
        omega[t] *= std::sqrt(1.0 - v);
        z2[t] = omega[t] + std::sqrt(v) * z2[t];
      }
      out[i] = response({skip, 1.0, label(skip, pair(0), z2), {Pair{0.0, 0.0}, omega}, {1.0, v}});
    }
  };
  const auto direct = numerics::gaussian_expectation(rule, integrand, testing::with_threads(2));
  const Estimate a = numerics::reduce(info.cross[1 * 2 + 0]);
  const Estimate b = numerics::reduce(direct[0]);
  // Both near 0.37 with errors near 0.01: a wrong term would show.
  EXPECT_NEAR(a.value, b.value, far_out * std::hypot(a.error, b.error));
  EXPECT_LT(far_out * std::hypot(a.error, b.error), 0.5 * a.value);
}

}  // namespace
}  // namespace onset::smi
