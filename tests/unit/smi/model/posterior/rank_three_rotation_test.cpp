#include "smi/model/posterior/rank_three_rotation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// Gauss's rule of 20 points over 38 decay lengths is good to 1e-11, and so is the grid of angles.
constexpr double of_both_rules = 1e-9;

using Rotation = std::array<std::array<double, 3>, 3>;

/// A rotation by Euler angles: about z, x and z.
Rotation euler(double a, double cosine, double c) {
  const double ca = std::cos(a), sa = std::sin(a), cc = std::cos(c), sc = std::sin(c);
  const double b = cosine, s = std::sqrt(1.0 - cosine * cosine);
  return {{{ca * cc - sa * b * sc, -ca * sc - sa * b * cc, sa * s},
           {sa * cc + ca * b * sc, -sa * sc + ca * b * cc, -ca * s},
           {s * sc, s * cc, b}}};
}

/// Sums over a grid of Euler angles, which share nothing with quaternions and Bessel functions.
struct OnAGrid {
  double constant = 0.0;
  Rotation diagonals{}, square{}, mirrored{};
  std::array<double, 3> diagonal{};
  double other = 0.0;  // <Q_12 Q_13>, one of those that vanish

  OnAGrid(double s1, double s2, double s3) {
    constexpr int steps = 96;
    using Gauss = boost::math::quadrature::gauss<double, 60>;
    const auto add = [&](double cosine, double weight) {
      for (int i = 0; i < steps * steps; ++i) {
        const double turn = 2.0 * std::numbers::pi / steps;
        const Rotation q = euler(turn * (i / steps), cosine, turn * (i % steps));
        const double w = weight * std::exp(s1 * q[0][0] + s2 * q[1][1] + s3 * q[2][2]);
        constant += w;
        other += w * q[0][1] * q[0][2];
        for (std::size_t k = 0; k < 9; ++k) {
          const std::size_t x = k / 3, y = k % 3;
          if (x == y) diagonal[x] += w * q[x][x];
          diagonals[x][y] += w * q[x][x] * q[y][y];
          square[x][y] += w * q[x][y] * q[x][y];
          mirrored[x][y] += w * q[x][y] * q[y][x];
        }
      }
    };
    const auto& nodes = Gauss::abscissa();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      add(nodes[k], Gauss::weights()[k]);
      add(-nodes[k], Gauss::weights()[k]);
    }
    other /= constant;
    for (double& x : diagonal) x /= constant;
    for (Rotation* m : {&diagonals, &square, &mirrored}) {
      for (auto& row : *m) {
        for (double& x : row) x /= constant;
      }
    }
    constant /= 2.0 * steps * steps;
  }
};

TEST(RotationMoments, AreThoseOfAGridOfEulerAngles) {
  const double cases[][3] = {{0.0, 0.0, 0.0},  {1.0, 0.5, 0.2}, {3.0, 2.0, -1.5}, {12.0, 1.0, 0.0},
                             {9.0, 8.0, -7.0}, {6.0, 6.0, 6.0}, {20.0, 10.0, 5.0}};
  for (const auto& s : cases) {
    const RotationMoments found = rotation_moments(s[0], s[1], s[2]);
    const OnAGrid truth(s[0], s[1], s[2]);
    SCOPED_TRACE(s[0]);
    EXPECT_NEAR(found.log_constant, std::log(truth.constant), of_both_rules);
    EXPECT_NEAR(truth.other, 0.0, of_both_rules);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(found.diagonal[i], truth.diagonal[i], of_both_rules);
      for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(found.square[i][j], truth.square[i][j], of_both_rules);
        EXPECT_NEAR(found.diagonals[i][j], truth.diagonals[i][j], of_both_rules);
        EXPECT_NEAR(found.mirrored[i][j], truth.mirrored[i][j], of_both_rules);
      }
    }
  }
}

TEST(RotationMoments, OfAVeryNarrowDistributionAreThoseOfSmallAngles) {
  // exp(s tr Q) with Q = exp(angles) is exp(-s |angles|^2) to leading order: every angle has the
  // variance 1/(2 s), and <Q_11> = 1 - 2/(4 s).
  const double s = 1e7;
  const RotationMoments found = rotation_moments(s, s, s);
  constexpr double next_order = 1e-13;  // 1 / s^2, ten times
  EXPECT_NEAR(1.0 - found.diagonal[0], 0.5 / s, next_order);
  EXPECT_NEAR(found.square[0][1], 0.5 / s, next_order);
  EXPECT_NEAR(found.mirrored[1][2], -0.5 / s, next_order);
}

TEST(RotationMoments, RowsOfARotationHaveLengthOne) {
  for (const double scale : {1e-6, 1.0, 40.0, 3e3, 2e6}) {
    const RotationMoments found = rotation_moments(3.0 * scale, 2.0 * scale, -1.0 * scale);
    for (const auto& row : found.square) {
      EXPECT_NEAR(row[0] + row[1] + row[2], 1.0, tolerance::many_roundings);
    }
  }
}

}  // namespace
}  // namespace onset::smi
