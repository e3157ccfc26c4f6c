#include "numerics/random/chi_square.hpp"

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

/// Whether a draw took anything from the spare stream.
bool asks_for_more(double degrees, double normal, std::uint64_t bits) {
  Stream spare(7, "chi-square spare");
  double out = 0.0;
  ChiSquare(degrees).sample({&normal, 1}, {&bits, 1}, spare, {&out, 1});
  return spare.uniform() != Stream(7, "chi-square spare").uniform();
}

TEST(ChiSquare, DecidesByTwelveBitsExactlyWhereTheyAreEnough) {
  // Accepted below 1 - 1.5 scale y^4: the bits k stand for [k, k + 1) / 4096, and only where all of
  // that is below the bound are they enough.
  const double degrees = 3.0;
  const double scale = 0.5 * degrees - 1.0 / 3.0;
  for (const double normal : {0.7, 1.0, 1.4, -1.2}) {
    const double y = normal / std::sqrt(9.0 * scale);
    const auto last = static_cast<std::uint64_t>(4096.0 * (1.0 - 1.5 * scale * y * y * y * y));
    EXPECT_FALSE(asks_for_more(degrees, normal, last - 1)) << normal;
    EXPECT_TRUE(asks_for_more(degrees, normal, last)) << normal;
  }
}

TEST(ChiSquare, TakesACandidateExactlyWhereTheRatioOfDensitiesSays) {
  // 2 scale (1 + y)^3 is taken below exp(scale g), g = 3 (log(1 + y) - y + y^2/2 - y^3/3), here
  // with more digits; the bits are those in whose interval that lies, so that the next uniform
  // decides.
  constexpr double rounding = 1e-14;  // of a cube; another candidate is elsewhere
  int taken = 0;
  for (const double degrees : {3.0, 50.0, 998.0}) {
    const double scale = 0.5 * degrees - 1.0 / 3.0;
    for (const double normal : {-1.5, -0.6, 0.7, 1.3, 2.5}) {
      const double y = normal / std::sqrt(9.0 * scale);
      const long double z = y;
      const long double g = 3.0L * (std::log1p(z) - z + z * z / 2.0L - z * z * z / 3.0L);
      const auto level = static_cast<double>(4096.0L * std::exp(scale * g));
      const auto bits = static_cast<std::uint64_t>(level);
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Stream spare(seed, "chi-square spare");
        // Behind one that is taken without a question.
        const double normals[2] = {0.0, normal};
        const std::uint64_t both[2] = {0, bits};
        double out[2];
        ChiSquare(degrees).sample(normals, both, spare, out);
        const double uniform = Stream(seed, "chi-square spare").uniform();
        const bool expected = static_cast<double>(bits) + uniform < level;
        const double candidate = 2.0 * scale * std::pow(1.0 + y, 3);
        EXPECT_EQ(std::abs(out[1] / candidate - 1.0) < rounding, expected)
            << degrees << " " << normal;
        taken += expected ? 1 : 0;
      }
    }
  }
  EXPECT_GT(taken, 50);
  EXPECT_LT(taken, 250);
}

TEST(ChiSquare, IsZeroWithoutDegreesAndRefusesOthers) {
  EXPECT_EQ(draw(0.0, 3), std::vector<double>(3, 0.0));
  EXPECT_THROW(ChiSquare(-1.0), InvalidArgument);
  EXPECT_THROW(ChiSquare(2.5), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
