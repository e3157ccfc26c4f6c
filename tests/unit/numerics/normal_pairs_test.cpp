#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/numerics/random.hpp"

namespace onset::numerics {
namespace {

/// The transform of one pair, as its definition says.
std::pair<double, double> plain_pair(std::uint64_t radius, std::uint64_t angle) {
  const double u = (static_cast<double>(radius >> 12) + 0.5) * 0x1p-52;
  const double fraction = (static_cast<double>((angle >> 12) & ((1ull << 50) - 1)) + 0.5) * 0x1p-50;
  const double x = 0.5 * std::numbers::pi * (fraction - 0.5);
  const double r = std::sqrt(-2.0 * std::log(u));
  const double c = (angle >> 63) != 0 ? -std::cos(x) : std::cos(x);
  const double s = std::sin(x);
  return ((angle >> 62) & 1) != 0 ? std::pair{r * s, r * c} : std::pair{r * c, r * s};
}

TEST(NormalPairs, AreTheTransformOfTheirBits) {
  for (const std::size_t n : {2u, 10u, 128u, 1002u}) {
    std::vector<double> x(n);
    std::vector<std::uint64_t> bits(n);
    Stream(3, "pairs").normal_pairs(x, bits);
    std::vector<std::uint64_t> again(n);
    Stream(3, "pairs").bits(again);
    EXPECT_EQ(bits, again);
    for (std::size_t i = 0; i < n / 2; ++i) {
      const auto [first, second] = plain_pair(bits[i], bits[n / 2 + i]);
      EXPECT_NEAR(x[i], first, 4e-15 * (1.0 + std::abs(first)));
      EXPECT_NEAR(x[n / 2 + i], second, 4e-15 * (1.0 + std::abs(second)));
    }
  }
}

/// Kolmogorov's distance, and the correlation of the pairs and of their squares; false alarms of
/// 1e-7 each.
TEST(NormalPairs, AreNormalAndIndependent) {
  constexpr std::size_t n = 400'000;
  std::vector<double> x(n);
  std::vector<std::uint64_t> bits(n);
  Stream(4, "pairs").normal_pairs(x, bits);
  double product = 0.0;
  double squares = 0.0;
  double spare = 0.0;
  for (std::size_t i = 0; i < n / 2; ++i) {
    const double y = x[n / 2 + i];
    product += x[i] * y;
    squares += (x[i] * x[i] - 1.0) * (y * y - 1.0) / 2.0;
    spare += y * (static_cast<double>(bits[n / 2 + i] & 4095) - 2047.5) /
             std::sqrt(4096.0 * 4096.0 / 12.0);
  }
  const double limit = 5.4 * std::sqrt(n / 2);
  EXPECT_LT(std::abs(product), limit);
  EXPECT_LT(std::abs(squares), 1.2 * limit);
  EXPECT_LT(std::abs(spare), limit) << "the lowest bits are free";
  std::sort(x.begin(), x.end());
  double distance = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double p = boost::math::cdf(boost::math::normal(), x[i]);
    distance = std::max(distance, std::abs(p - (static_cast<double>(i) + 0.5) / n));
  }
  EXPECT_LT(distance, std::sqrt(-0.5 * std::log(0.5e-7) / n));
}

TEST(NormalPairs, AnOddNumberIsRefused) {
  std::vector<double> x(3);
  std::vector<std::uint64_t> bits(3);
  Stream stream(1, "pairs");
  EXPECT_THROW(stream.normal_pairs(x, bits), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
