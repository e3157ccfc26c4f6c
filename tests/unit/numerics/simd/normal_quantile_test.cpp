#include <gtest/gtest.h>

#include <bit>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "numerics/random/stream.hpp"
#include "numerics/simd/vector_math.hpp"
#include "unit/numerics/simd_levels.hpp"
#include "unit/numerics/ulps.hpp"

namespace onset::numerics {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> quantiles(const std::vector<double>& p) {
  std::vector<double> x(p.size());
  simd::normal_quantile(p, x);
  return x;
}

long double reference(double p) {
  return boost::math::quantile(boost::math::normal_distribution<long double>(),
                               static_cast<long double>(p));
}

// Probabilities of all sizes: the centre, both tails, powers of two down to the subnormals.
std::vector<double> probabilities() {
  std::vector<double> p(20'000);
  Stream(1, "quantile-test").uniform(p);
  for (int k = 1; k <= 1074; ++k) p.push_back(std::ldexp(1.0, -k));
  for (int k = 2; k <= 53; ++k) p.push_back(1.0 - std::ldexp(1.0, -k));
  for (double offset = -1e-3; offset <= 1e-3; offset += 1e-5) {
    p.push_back(0.075 + offset);
    p.push_back(0.925 + offset);
  }
  return p;
}

TEST(NormalQuantile, IsRightToAFewUnitsFromTheCentreToTheFarTails) {
  const std::vector<double> p = probabilities();
  const std::vector<double> x = quantiles(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const long double expected = reference(p[i]);
    EXPECT_LE(testing::ulps(x[i], expected), 8.0) << std::hexfloat << p[i];
  }
}

TEST(NormalQuantile, IsAntisymmetricWhereBothProbabilitiesAreRepresentable) {
  std::vector<double> p(10'000);
  Stream(2, "quantile-test").uniform(p);
  for (int k = 2; k <= 53; ++k) p.push_back(std::ldexp(1.0, -k));
  std::vector<double> mirrored = p;
  for (double& value : mirrored) value = 1.0 - value;
  const std::vector<double> x = quantiles(p);
  const std::vector<double> y = quantiles(mirrored);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(x[i], -y[i]) << p[i];
}

TEST(NormalQuantile, HandlesTheEndsAndWhatLiesOutside) {
  const std::vector<double> x =
      quantiles({0.5, 0.0, 1.0, -0.1, 1.1, std::nan(""), -infinity, infinity, -0.0});
  EXPECT_EQ(x[0], 0.0);
  EXPECT_EQ(x[1], -infinity);
  EXPECT_EQ(x[2], infinity);
  for (std::size_t i : {3, 4, 5, 6, 7}) EXPECT_TRUE(std::isnan(x[i])) << i;
  EXPECT_EQ(x[8], -infinity);
}

TEST(NormalQuantile, GivesTheSameBitsOnEverySimdLevel) {
  const std::vector<double> p = probabilities();
  const std::vector<double> expected = quantiles(p);
  testing::at_every_simd_level([&](const std::string& level) {
    const std::vector<double> x = quantiles(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(x[i]), std::bit_cast<std::uint64_t>(expected[i]))
          << level << " " << p[i];
    }
  });
}

}  // namespace
}  // namespace onset::numerics
