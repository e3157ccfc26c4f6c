#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

/// An oracle for the posterior of two layers and two tokens that shares nothing with the library:
/// the plain token basis, one proposal-free sum, both signs of the label.
namespace onset::smi::brute_force {

using Pair = std::array<double, 2>;

struct Question {
  double skip;
  double beta;
  Pair h;
  std::array<Pair, 2> omega;
  Pair variance;
  // Correlation of z_1 and z_2 of a token in the prior, whose density is normalised without it.
  double correlation = 0.0;
};

struct Answer {
  double log_z = 0.0;
  std::array<Pair, 2> mean{};                     // <zeta_l>
  std::array<std::array<double, 3>, 2> second{};  // <zeta_l zeta_l^T>: 11, 21, 22
  double cross = 0.0;                             // <zeta_1 . zeta_2>
  // <(zeta_1 zeta_1^T)_k zeta_2,t>: k as in second
  std::array<Pair, 3> third{};
};

/// log N(z; omega, variance I) of a pair.
inline double log_normal(const Pair& z, const Pair& omega, double variance) {
  const double a = z[0] - omega[0];
  const double b = z[1] - omega[1];
  return -0.5 * (a * a + b * b) / variance - std::log(2.0 * std::numbers::pi * variance);
}

/// Z_out = sum_{+-} int dz_1 N(z_1; omega_1, V_1) N(+-B^{-1} h; omega_2, V_2) / |det B| by the
/// trapezoid rule, which converges faster than any power here. The step resolves both Gaussians,
/// min(0.1 sqrt V_1, 0.25 sqrt V_2) times `coarseness`; the square has a half side of 7.5 sqrt V_1.
inline Answer solve(const Question& q, double coarseness = 1.0) {
  const double deviation = std::sqrt(q.variance[0]);
  const double wanted = coarseness * std::fmin(0.1 * deviation, 0.25 * std::sqrt(q.variance[1]));
  const int half_count = static_cast<int>(std::ceil(7.5 * deviation / wanted));
  const double step = 7.5 * deviation / half_count;
  // A scale for the terms that no term exceeds by much: the densities' own prefactors.
  const double prefactor = std::log(2.0 * std::numbers::pi * q.variance[0]) +
                           std::log(2.0 * std::numbers::pi * q.variance[1]);
  double total = 0.0;
  Answer sums;
  for (int i = -half_count; i <= half_count; ++i) {
    for (int j = -half_count; j <= half_count; ++j) {
      const Pair z1 = {q.omega[0][0] + step * i, q.omega[0][1] + step * j};
      // Entries of B = softmax_rows(beta z1 z1^T) + skip I.
      const double off1 = 1.0 / (1.0 + std::exp(q.beta * z1[0] * (z1[0] - z1[1])));
      const double off2 = 1.0 / (1.0 + std::exp(q.beta * z1[1] * (z1[1] - z1[0])));
      const double b11 = 1.0 - off1 + q.skip;
      const double b22 = 1.0 - off2 + q.skip;
      const double determinant = b11 * b22 - off1 * off2;
      const Pair solved = {(b22 * q.h[0] - off1 * q.h[1]) / determinant,
                           (b11 * q.h[1] - off2 * q.h[0]) / determinant};
      const double log_first = log_normal(z1, q.omega[0], q.variance[0]);
      for (const double sign : {1.0, -1.0}) {
        const Pair z2 = {sign * solved[0], sign * solved[1]};
        const std::array<Pair, 2> z = {z1, z2};
        const auto zeta = [&](std::size_t l, std::size_t t) {
          return (z[l][t] - q.omega[l][t]) / std::sqrt(q.variance[l]);
        };
        double exponent = log_first + log_normal(z2, q.omega[1], q.variance[1]) + prefactor;
        for (std::size_t t = 0; t < 2; ++t) {
          const double a = zeta(0, t);
          const double b = zeta(1, t);
          const double rho = q.correlation;
          exponent -=
              0.5 * ((a * a - 2.0 * rho * a * b + b * b) / (1.0 - rho * rho) - a * a - b * b);
        }
        if (exponent < -700.0) continue;
        const double w = std::exp(exponent) / std::abs(determinant);
        total += w;
        sums.cross += w * (zeta(0, 0) * zeta(1, 0) + zeta(0, 1) * zeta(1, 1));
        for (std::size_t t = 0; t < 2; ++t) {
          sums.third[0][t] += w * zeta(0, 0) * zeta(0, 0) * zeta(1, t);
          sums.third[1][t] += w * zeta(0, 1) * zeta(0, 0) * zeta(1, t);
          sums.third[2][t] += w * zeta(0, 1) * zeta(0, 1) * zeta(1, t);
        }
        for (std::size_t l = 0; l < 2; ++l) {
          const double a = zeta(l, 0);
          const double b = zeta(l, 1);
          sums.mean[l][0] += w * a;
          sums.mean[l][1] += w * b;
          sums.second[l][0] += w * a * a;
          sums.second[l][1] += w * a * b;
          sums.second[l][2] += w * b * b;
        }
      }
    }
  }
  sums.cross /= total;
  for (std::size_t l = 0; l < 2; ++l) {
    for (double& x : sums.mean[l]) x /= total;
    for (double& x : sums.second[l]) x /= total;
  }
  for (Pair& row : sums.third) {
    for (double& x : row) x /= total;
  }
  sums.log_z = std::log(total * step * step) - prefactor;
  return sums;
}

}  // namespace onset::smi::brute_force
