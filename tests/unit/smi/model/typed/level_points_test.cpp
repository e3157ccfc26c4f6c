#include "smi/model/typed/level_points.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

/// Roots of as many equations as there are normals have no rule: rounding of Newton's method.
constexpr double rounding = 1e-9;
/// The trapezoid rule over slices at this spacing, for level curves of size 1 and more; the theory
/// of one output has 1e-4 at half of it.
constexpr double slice_spacing = 0.25;
constexpr double slice_error = 3e-4;

NormalForm plain(std::size_t fields) {
  const auto n = static_cast<Eigen::Index>(fields);
  return {FieldVector::Zero(n), FieldMatrix::Identity(n, n)};
}

LevelMoments moments_of(const std::string& text, std::vector<double> values, unsigned density) {
  const TypedLink link(text, 0.0);
  TypedLabel label;
  std::copy(values.begin(), values.end(), label.value.begin());
  label.density = density;
  LineOptions options;
  options.spacing = slice_spacing;
  options.scan_spacing = 0.35;
  return LevelPoints(link, plain(link.fields().size()), label, options).moments();
}

double normal(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

TEST(LevelPoints, RootsOfAsManyEquationsAsNormalsAreExact) {
  const LevelMoments m = moments_of("z1^2, z2^2", {0.49, 2.25}, 3);
  EXPECT_EQ(m.roots, 4U);
  // Four roots with 1/|det| = 1/(4 |z1 z2|) each.
  EXPECT_NEAR(m.z, normal(0.7) * normal(1.5) / (0.7 * 1.5), rounding);
  EXPECT_NEAR(m.second(0, 0) / m.z, 0.49, rounding);
  EXPECT_NEAR(m.second(1, 1) / m.z, 2.25, rounding);
  EXPECT_NEAR(m.second(0, 1) / m.z, 0.0, rounding);
}

// Two sheets that touch: a pair of roots next to a fold.
TEST(LevelPoints, PairsNextToAFoldAreFound) {
  // z1 z2 = p and z1 + z2 = s have two roots that meet at s^2 = 4 p.
  for (const double apart : {1e-1, 1e-2, 1e-3}) {
    const double p = (1.0 - apart * apart) / 4.0;
    EXPECT_EQ(moments_of("z1*z2, z1+z2", {p, 1.0}, 3).roots, 2U) << apart;
  }
}

TEST(LevelPoints, ALineInSpaceHasItsGaussianMoments) {
  const LevelMoments m = moments_of("z1+2*z2, z2-z3", {0.7, -0.4}, 3);
  Eigen::MatrixXd j(2, 3);
  j << 1.0, 2.0, 0.0, 0.0, 1.0, -1.0;
  const Eigen::Vector2d y(0.7, -0.4);
  const Eigen::Matrix2d square = j * j.transpose();
  const Eigen::MatrixXd back = j.transpose() * square.inverse();
  const Eigen::Vector3d mean = back * y;
  const Eigen::Matrix3d second = Eigen::Matrix3d::Identity() - back * j + mean * mean.transpose();
  const double density = std::exp(-0.5 * y.dot(square.inverse() * y)) /
                         (2.0 * std::numbers::pi * std::sqrt(square.determinant()));
  EXPECT_NEAR(m.z / density, 1.0, slice_error);
  EXPECT_LT((Eigen::Vector3d(m.mean / m.z) - mean).norm(), slice_error);
  EXPECT_LT((Eigen::Matrix3d(m.second / m.z) - second).norm(), slice_error);
}

// z2^2 given both products has an inverse Gaussian law: <z2^2> = r, <1/z2^2> = 1/r + 1/r^2 with
// r^2 = y1^2 + y2^2, and the density of the labels is e^-r/(2 pi r).
TEST(LevelPoints, TwoProductsWithACommonFactor) {
  const double y1 = 0.6;
  const double y2 = -0.8;
  const LevelMoments m = moments_of("z1*z2, z2*z3", {y1, y2}, 3);
  // Hyperbolas are less even than lines: the rule's error at r = 1 is a few times larger.
  constexpr double hyperbola_error = 5e-3;
  EXPECT_NEAR(m.z / (std::exp(-1.0) / (2.0 * std::numbers::pi)), 1.0, hyperbola_error);
  EXPECT_NEAR(m.second(1, 1) / m.z, 1.0, hyperbola_error);
  EXPECT_NEAR(m.second(0, 0) / m.z, 2.0 * y1 * y1, hyperbola_error);
  EXPECT_NEAR(m.second(0, 2) / m.z, 2.0 * y1 * y2, hyperbola_error);
  EXPECT_NEAR(m.second(0, 1) / m.z, y1, hyperbola_error);
}

// The third output follows from the others on one piece and must agree with the label.
TEST(LevelPoints, OutputsThatFollowMustAgree) {
  EXPECT_EQ(moments_of("z1, z2, z1+z2", {0.3, 0.5, 0.8}, 3).roots, 1U);
  EXPECT_EQ(moments_of("z1, z2, z1+z2", {0.3, 0.5, 0.9}, 3).roots, 0U);
  const LevelMoments right = moments_of("z1*z2, z2*z3, z1*z3", {0.5, -0.4, -0.7}, 7);
  // z1^2 = y1 y3 / y2, and a common sign.
  EXPECT_EQ(right.roots, 2U);
  EXPECT_NEAR(right.second(0, 0) / right.z, 0.875, rounding);
}

}  // namespace
}  // namespace onset::smi
