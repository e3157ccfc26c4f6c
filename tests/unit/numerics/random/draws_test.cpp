#include "numerics/random/draws.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace onset::numerics {
namespace {

TEST(Draws, OfOneKeyAreTheSameAndOfTwoKeysAreNot) {
  Draws a(1, "test", 4), b(1, "test", 4), other(1, "test", 5);
  int equal = 0;
  for (int i = 0; i < 3000; ++i) {
    const double x = a.normal();
    EXPECT_EQ(x, b.normal());
    equal += x == other.normal() ? 1 : 0;
  }
  EXPECT_EQ(equal, 0);
}

TEST(Draws, ChiSquaresHaveTheMomentsOfTheirDegrees) {
  constexpr int n = 200'000;
  for (const double degrees : {1.0, 2.0, 7.0, 1e3, 1e9}) {
    Draws draws(7, "chi square", static_cast<std::uint64_t>(degrees));
    double mean = 0.0, square = 0.0, log_mean = 0.0;
    for (int i = 0; i < n; ++i) {
      const double x = draws.chi_square(ChiSquare(degrees));
      mean += x / n;
      square += (x - degrees) * (x - degrees) / n;
      log_mean += std::log(x) / n;
    }
    // Five standard errors: 6e-7 for each of the three comparisons.
    const double deviation = std::sqrt(2.0 * degrees / n);
    EXPECT_NEAR(mean, degrees, 5.0 * deviation);
    const double fourth = 12.0 * degrees * (degrees + 4.0);
    EXPECT_NEAR(square, 2.0 * degrees, 5.0 * std::sqrt((fourth - 4.0 * degrees * degrees) / n));
    if (degrees < 10.0) {
      // E log = psi(k/2) + log 2, by the derivative of lgamma; its variance is psi'(k/2).
      const double h = 1e-4, k = 0.5 * degrees;
      const double psi = (std::lgamma(k + h) - std::lgamma(k - h)) / (2.0 * h);
      const double trigamma =
          (std::lgamma(k + h) - 2.0 * std::lgamma(k) + std::lgamma(k - h)) / (h * h);
      EXPECT_NEAR(log_mean, psi + std::log(2.0), 5.0 * std::sqrt(trigamma / n) + 1e-6);
    }
  }
}

TEST(Draws, ChiSquareOfNoDegreesIsZero) {
  Draws draws(1, "none", 0);
  EXPECT_EQ(draws.chi_square(ChiSquare(0.0)), 0.0);
}

}  // namespace
}  // namespace onset::numerics
