#include "numerics/chi_square.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <vector>

#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// Kolmogorov's distance beyond which equality is rejected; a false alarm has probability 1e-7.
double critical_distance(std::size_t n) {
  return std::sqrt(-0.5 * std::log(0.5e-7) / static_cast<double>(n));
}

template <class Distribution>
double distance(std::vector<double> sample, const Distribution& law) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = boost::math::cdf(law, sample[i]);
    const auto k = static_cast<double>(i);
    worst = std::max({worst, std::abs(p - k / n), std::abs(p - (k + 1.0) / n)});
  }
  return worst;
}

std::vector<double> draw(double degrees, std::size_t count) {
  std::vector<double> normals(count);
  std::vector<std::uint64_t> bits(count);
  std::vector<double> out(count);
  Stream stream(7, "chi-square test");
  Stream spare(7, "chi-square spare");
  stream.normal(normals, bits);
  ChiSquare(degrees).sample(normals, bits, spare, out);
  return out;
}

TEST(ChiSquare, HasItsLawForFewAndForManyDegrees) {
  constexpr std::size_t n = 100'000;
  for (const double degrees : {1.0, 2.0, 3.0, 5.0, 50.0, 998.0, 1e6}) {
    EXPECT_LT(distance(draw(degrees, n), boost::math::chi_squared(degrees)), critical_distance(n))
        << degrees;
  }
}

TEST(ChiSquare, MayOverwriteItsNormals) {
  constexpr std::size_t n = 10'000;
  for (const double degrees : {1.0, 2.0, 7.0, 998.0}) {
    std::vector<double> x(n);
    std::vector<std::uint64_t> bits(n);
    Stream spare(7, "chi-square spare");
    Stream(7, "chi-square test").normal(x, bits);
    ChiSquare(degrees).sample(x, bits, spare, x);
    EXPECT_EQ(x, draw(degrees, n)) << degrees;
  }
}

TEST(ChiSquare, AgreesWithItsMomentsAtATrillionDegrees) {
  constexpr std::size_t n = 100'000;
  const double degrees = 1e12;
  double sum = 0.0;
  double squares = 0.0;
  for (const double x : draw(degrees, n)) {
    const double y = (x - degrees) / std::sqrt(2.0 * degrees);
    sum += y;
    squares += y * y;
  }
  // 6 standard errors of a mean and of a variance.
  EXPECT_NEAR(sum / n, 0.0, 6.0 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1.0, 6.0 * std::sqrt(2.0 / n));
}

TEST(ChiSquare, IsZeroWithoutDegreesAndRefusesOthers) {
  EXPECT_EQ(draw(0.0, 3), std::vector<double>(3, 0.0));
  EXPECT_THROW(ChiSquare(-1.0), InvalidArgument);
  EXPECT_THROW(ChiSquare(2.5), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
