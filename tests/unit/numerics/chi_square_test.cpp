#include "onset/numerics/chi_square.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
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

TEST(FloatNormals, HaveTheNormalLaw) {
  constexpr std::size_t n = 200'001;  // odd, and no multiple of a block
  std::vector<float> x(n);
  Stream(3, "float normals").normal(x);
  const std::vector<double> sample(x.begin(), x.end());
  EXPECT_LT(distance(sample, boost::math::normal()), critical_distance(n));
  // Neighbours in a pair share a radius: their product must average to 0 all the same.
  double product = 0.0;
  for (std::size_t i = 0; i < 256; ++i) {
    for (std::size_t block = 0; block + 512 < n; block += 512) {
      product += sample[block + i] * sample[block + 256 + i];
    }
  }
  EXPECT_NEAR(product / (n / 2.0), 0.0, 6.0 / std::sqrt(n / 2.0));
}

}  // namespace
}  // namespace onset::numerics
