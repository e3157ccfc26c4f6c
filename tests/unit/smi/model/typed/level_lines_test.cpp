#include "smi/model/typed/level_lines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

/// The trapezoid rule over lines errs at this spacing, for smooth level sets of size 1 and more, by
/// less than this (docs/math/smi.md, typed links: 2e-6 to 1e-4).
constexpr double fine_spacing = 0.125;
constexpr double fine_error = 3e-4;
/// A single normal has no rule: roots and their slopes to rounding.
constexpr double rounding = 1e-11;

NormalForm plain(std::size_t fields) {
  const auto n = static_cast<Eigen::Index>(fields);
  return {FieldVector::Zero(n), FieldMatrix::Identity(n, n)};
}

LevelLines lines_of(const TypedLink& link, const NormalForm& form) {
  LineOptions options;
  options.spacing = fine_spacing;
  return LevelLines(link, form, options);
}

double normal_density(double x, double variance) {
  return std::exp(-0.5 * x * x / variance) / std::sqrt(2.0 * std::numbers::pi * variance);
}

TEST(LevelLines, RootsOfOneNormalAreExact) {
  const TypedLink link("z1^2", 0.0);
  const LevelLines lines = lines_of(link, plain(1));
  for (const double y : {1e-10, 1e-3, 0.5, 3.0, 20.0}) {
    const LevelMoments m = lines.moments({y, false});
    EXPECT_EQ(m.roots, 2U) << y;
    EXPECT_NEAR(m.z / (normal_density(std::sqrt(y), 1.0) / std::sqrt(y)), 1.0, rounding) << y;
    EXPECT_NEAR(m.mean(0) / m.z, 0.0, rounding);
    EXPECT_NEAR(m.second(0, 0) / m.z, y, rounding * (1.0 + y));
  }
}

// Two roots that hide between scanned points, next to the largest value of a link.
TEST(LevelLines, PairsNextToAnExtremumAreFound) {
  const TypedLink link("z1^2*exp(-z1^2)", 0.0);
  const LevelLines lines = lines_of(link, plain(1));
  for (int k = 2; k <= 12; ++k) {
    const LevelMoments m = lines.moments({std::exp(-1.0) - std::pow(10.0, -k), false});
    EXPECT_EQ(m.roots, 4U) << k;
    // The two roots of |z| carry opposite weights: E[z^2 - 1 | y] = 0 for every y. Next to the
    // fold both the places and their slopes have half the digits.
    constexpr double half_the_digits = 1e-9;
    EXPECT_NEAR(m.second(0, 0) / m.z, 1.0, half_the_digits) << k;
  }
}

TEST(LevelLines, PolesAreNoRoots) {
  const TypedLink link("1/z1", 0.0);
  const LevelMoments m = lines_of(link, plain(1)).moments({0.5, false});
  EXPECT_EQ(m.roots, 1U);
  EXPECT_NEAR(m.mean(0) / m.z, 2.0, rounding);
}

// A function of the angle turns within any distance of the origin: lines that pass it closely have
// roots between scanned points. Its law is that of half a sine of a uniform angle.
TEST(LevelLines, RootsNextToASingularPointAreFound) {
  const TypedLink link("z1*z2/(z1^2+z2^2)", 0.0);
  const LevelLines lines = lines_of(link, plain(2));
  for (const double y : {0.1, 0.4, 0.48, 0.499}) {
    const LevelMoments m = lines.moments({y, false});
    const double exact = 2.0 / (std::numbers::pi * std::sqrt(1.0 - 4.0 * y * y));
    // Rays that end at a point leave more than smooth level sets do.
    constexpr double error_of_rays = 3e-3;
    EXPECT_NEAR(m.z / exact, 1.0, error_of_rays) << y;
    EXPECT_NEAR(m.second(0, 0) / m.z, 1.0, error_of_rays) << y;
    EXPECT_NEAR(m.second(0, 1) / m.z, 2.0 * y, error_of_rays) << y;
  }
}

TEST(LevelLines, ALineInThePlaneHasItsGaussianMoments) {
  const TypedLink link("z1+2*z2", 0.0);
  const LevelMoments m = lines_of(link, plain(2)).moments({1.5, false});
  EXPECT_NEAR(m.z / normal_density(1.5, 5.0), 1.0, fine_error);
  EXPECT_NEAR(m.mean(0) / m.z, 0.3, fine_error);
  EXPECT_NEAR(m.mean(1) / m.z, 0.6, fine_error);
  EXPECT_NEAR(m.second(0, 0) / m.z, 1.0 - 1.0 / 5.0 + 0.09, fine_error);
  EXPECT_NEAR(m.second(0, 1) / m.z, -2.0 / 5.0 + 0.18, fine_error);
}

TEST(LevelLines, ACircleAndASphere) {
  const TypedLink circle("z1^2+z2^2", 0.0);
  const LevelMoments m = lines_of(circle, plain(2)).moments({2.0, false});
  EXPECT_NEAR(m.z / (0.5 * std::exp(-1.0)), 1.0, fine_error);
  EXPECT_NEAR(m.second(0, 0) / m.z, 1.0, fine_error);
  const TypedLink sphere("z1^2+z2^2+z3^2", 0.0);
  const LevelMoments s = lines_of(sphere, plain(3)).moments({3.0, false});
  EXPECT_NEAR(s.z / (std::sqrt(3.0) * std::exp(-1.5) / std::sqrt(2.0 * std::numbers::pi)), 1.0,
              fine_error);
  EXPECT_NEAR(s.second(1, 1) / s.z, 1.0, fine_error);
}

TEST(LevelLines, AShiftAndAScaleAreThoseOfTheFields) {
  const TypedLink link("z1+z2", 0.0);
  NormalForm form = plain(2);
  form.origin << 0.5, -0.2;
  form.matrix << 0.8, 0.0, 0.3, 0.4;
  const LevelMoments m = lines_of(link, form).moments({1.0, false});
  // f = 0.3 + 1.1 xi_1 + 0.4 xi_2.
  const double variance = 1.1 * 1.1 + 0.4 * 0.4;
  EXPECT_NEAR(m.z / normal_density(0.7, variance), 1.0, fine_error);
  EXPECT_NEAR(m.mean(0) / m.z, 0.7 * 1.1 / variance, fine_error);
}

TEST(LevelLines, AtomsAreRegions) {
  const TypedLink half("relu(z1)", 0.0);
  const LevelLines lines = lines_of(half, plain(1));
  const LevelMoments m = lines.moments({0.0, true});
  EXPECT_NEAR(m.z, 0.5, rounding);
  EXPECT_NEAR(m.mean(0) / m.z, -std::sqrt(2.0 / std::numbers::pi), rounding);
  EXPECT_NEAR(m.second(0, 0) / m.z, 1.0, rounding);
  // The same link's density is that of the other half alone.
  EXPECT_NEAR(lines.moments({0.7, false}).z, normal_density(0.7, 1.0), rounding);
  const TypedLink quadrants("sign(z1*z2)", 0.0);
  const LevelMoments q = lines_of(quadrants, plain(2)).moments({1.0, true});
  // Regions with corners: the rule over lines is of second order there.
  constexpr double corner_error = 3e-3;
  EXPECT_NEAR(q.z, 0.5, corner_error);
  EXPECT_NEAR(q.second(0, 1) / q.z, 2.0 / std::numbers::pi, corner_error);
}

// Lines through the corner of two regions cross both their edges between two scanned points.
TEST(LevelLines, ASwitchThatChangesSignTwiceBetweenPointsIsSeen) {
  const TypedLink quadrants("sign(z1*z2)", 0.0);
  LineOptions options;
  options.spacing = 1.0 / 256.0;
  // Corners make the rule one of second order: the square of the spacing, with room.
  constexpr double second_order = 2e-4;
  for (std::uint64_t replicate = 0; replicate < 4; ++replicate) {
    options.replicate = replicate;
    const LevelMoments q = LevelLines(quadrants, plain(2), options).moments({1.0, true});
    EXPECT_NEAR(q.z, 0.5, second_order);
    EXPECT_NEAR(q.second(0, 1) / q.z, 2.0 / std::numbers::pi, second_order);
  }
}

// Short chords next to the corner of a wedge |x| < c y: the whole has the mass of its angle.
TEST(LevelLines, ASwitchWithAKinkIsSeenAtTheKink) {
  const TypedLink link("sign(abs(z1)-0.3*z2)", 0.0);
  LineOptions options;
  options.spacing = 1.0 / 64.0;
  const LevelMoments m = LevelLines(link, plain(2), options).moments({-1.0, true});
  constexpr double rule_of_corners = 3e-5;  // second order in the spacing
  EXPECT_NEAR(m.z, std::atan(0.3) / std::numbers::pi, rule_of_corners);
}

// A piece may have no slope at its middle and not be flat.
TEST(LevelLines, APieceIsFlatWhereItHasNoSlopeAnywhere) {
  const TypedLink link("min(z1^2,1)", 0.0);
  const std::vector<TypedLabel> atoms = lines_of(link, plain(1)).atoms();
  ASSERT_EQ(atoms.size(), 1U);
  EXPECT_EQ(atoms.front().value[0], 1.0);
}

// Small level sets fall between lines unless these lie closer around them.
TEST(LevelLines, ACentreResolvesASmallCircle) {
  const TypedLink link("z1^2+z2^2", 0.0);
  LineOptions options;
  const FieldVector centre = FieldVector::Constant(2, 0.01);
  options.centre = centre;
  const LevelMoments m = LevelLines(link, plain(2), options).moments({4e-4, false});
  EXPECT_GT(m.roots, 8U);
  // A circle of radius 0.02 among lines that are 0.01 apart and closer.
  constexpr double coarse_error = 0.1;
  EXPECT_NEAR(m.z / 0.5, 1.0, coarse_error);
}

}  // namespace
}  // namespace onset::smi
