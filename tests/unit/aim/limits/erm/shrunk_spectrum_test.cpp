#include "aim/limits/erm/shrunk_spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aim/limits/spectrum.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

TEST(ShrunkSpectrum, SquaredDifferencesAreThoseOfAnIndependentProgram) {
  const Estimate plain = squared_difference(Penalty::trace, 0.5, 0.3, 0.2);
  EXPECT_NEAR(plain.value, 0.5692113129454, tolerance::thousands_of_roundings);
  // Densities with a dip need more nodes, and the two rules say so.
  const Estimate dip = squared_difference(Penalty::trace, 0.3, 0.25, 0.2);
  EXPECT_NEAR(dip.value, 0.47956550988, dip.error);
  EXPECT_LT(dip.error, 1e-3);
  const Estimate deep = squared_difference(Penalty::trace, 0.15, 1.0, 0.2);
  EXPECT_NEAR(deep.value, 0.42377973599, deep.error);
  EXPECT_LT(deep.error, 1e-2);
}

TEST(ShrunkSpectrum, TheNuclearNormKeepsBothSides) {
  const double rho = 0.3;
  const double delta = 2.0;
  const double threshold = 0.5;
  const ShrunkSpectrum s = shrunk_spectrum(Penalty::nuclear, rho, delta, threshold);
  const NoisySpectrum spectrum(rho, delta);
  const auto f = [&](double x) { return std::copysign(std::max(0.0, std::abs(x) - threshold), x); };
  // A kink inside the band leaves quadrature this error.
  constexpr double kink = 2e-4;
  const auto mean = [&](auto g) { return spectrum.mean(g).value; };
  EXPECT_NEAR(s.trace, mean([&](double x, double) { return f(x); }), kink);
  EXPECT_NEAR(s.absolute, mean([&](double x, double) { return std::abs(f(x)); }), kink);
  EXPECT_NEAR(s.square, mean([&](double x, double) { return f(x) * f(x); }), kink);
  EXPECT_NEAR(s.error,
              1.0 + rho + s.square - 2.0 * mean([&](double x, double xi) { return xi * f(x); }),
              3.0 * kink);
}

TEST(ShrunkSpectrum, NothingBelowTheLowerCutIsNoRounding) {
  const double rho = 0.5;
  const double delta = 1000.0;
  const double threshold = 0.9999 * right_edge(rho, delta);
  const ShrunkSpectrum both = shrunk_spectrum(Penalty::nuclear, rho, delta, threshold);
  const ShrunkSpectrum upper = shrunk_spectrum(Penalty::trace, rho, delta, threshold);
  EXPECT_EQ(both.square, upper.square);
  EXPECT_EQ(both.absolute, upper.absolute);
  EXPECT_EQ(both.error, upper.error);
}

TEST(ShrunkSpectrum, ErrorsHaveTheirDerivatives) {
  for (const Penalty penalty : {Penalty::trace, Penalty::nuclear}) {
    const double rho = 0.4;
    const double delta = 0.7;
    const double threshold = 0.3;
    const double h = 1e-6;
    // Errors that are good to 1e-14 leave a central difference of this step 1e-8 of rounding.
    constexpr double rounding_over_step = 1e-8;
    const ShrunkSpectrum s = shrunk_spectrum(penalty, rho, delta, threshold);
    const auto error = [&](double d, double t) {
      return shrunk_spectrum(penalty, rho, d, t).error;
    };
    EXPECT_NEAR(s.error_by_threshold,
                (error(delta, threshold + h) - error(delta, threshold - h)) / (2.0 * h),
                rounding_over_step);
    EXPECT_NEAR(s.error_by_delta,
                (error(delta + h, threshold) - error(delta - h, threshold)) / (2.0 * h),
                rounding_over_step);
  }
}

}  // namespace
}  // namespace onset::aim
