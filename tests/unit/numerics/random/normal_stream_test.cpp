#include "numerics/random/normal_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "numerics/random/stream.hpp"
#include "numerics/simd/normals.hpp"
#include "onset/core/error.hpp"
#include "unit/numerics/simd_levels.hpp"

namespace onset::numerics {
namespace {

/// Floats have 24 bits, 6e-8 of numbers below 8.
constexpr double single_precision = 1e-6;

/// xoshiro256+ as its authors define it.
struct Plain {
  std::array<std::uint64_t, 4> s;

  std::uint64_t next() {
    const std::uint64_t out = s[0] + s[3];
    const std::uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = std::rotl(s[3], 45);
    return out;
  }
};

/// The words of a stream: `steps` of all eight copies.
std::vector<std::uint64_t> plain_words(std::uint64_t seed, std::size_t steps) {
  std::array<std::uint64_t, 32> state;
  Stream(seed, "normals", 7).bits(state);
  std::vector<std::uint64_t> words(8 * steps);
  for (std::size_t c = 0; c < 8; ++c) {
    Plain plain{{state[c], state[8 + c], state[16 + c], state[24 + c]}};
    for (std::size_t k = 0; k < steps; ++k) words[8 * k + c] = plain.next();
  }
  return words;
}

struct Pair {
  double first, second;
};

/// The transform of one pair, as its definition says.
Pair transform(double u, double angle, bool minus, bool swap) {
  const double r = std::sqrt(-2.0 * std::log(u));
  const double c = minus ? -std::cos(angle) : std::cos(angle);
  const double s = std::sin(angle);
  return swap ? Pair{r * s, r * c} : Pair{r * c, r * s};
}

Pair plain_pair(std::uint64_t radius, std::uint64_t angle) {
  const double u = (static_cast<double>(radius >> 12) + 0.5) * 0x1p-52;
  const double fraction = (static_cast<double>((angle >> 12) & ((1ull << 50) - 1)) + 0.5) * 0x1p-50;
  return transform(u, 0.5 * std::numbers::pi * (fraction - 0.5), (angle >> 63) != 0,
                   ((angle >> 62) & 1) != 0);
}

Pair plain_pair(std::uint32_t radius, std::uint32_t angle) {
  const double u = (static_cast<double>(radius >> 1) + 0.5) * 0x1p-31;
  const auto rest = static_cast<std::int32_t>(angle << 2);
  return transform(u, 0.25 * std::numbers::pi * rest * 0x1p-31, (angle >> 31) != 0,
                   ((angle >> 30) & 1) != 0);
}

void expect_doubles_of_words() {
  for (const std::size_t n : {1u, 10u, 16u, 1000u}) {
    std::vector<double> x(n);
    std::vector<std::uint64_t> bits(n);
    NormalStream(3, "normals", 7).fill(x, bits);
    const auto words = plain_words(3, 2 * (n / 16 + 1));
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(bits[i], words[i]);
      const std::size_t radius = i / 16 * 16 + i % 8;
      const Pair expected = plain_pair(words[radius], words[radius + 8]);
      const double value = i % 16 < 8 ? expected.first : expected.second;
      EXPECT_NEAR(x[i], value, 4e-15 * (1.0 + std::abs(value)));
    }
  }
}

void expect_floats_of_words() {
  for (const std::size_t n : {1u, 33u, 2000u}) {
    std::vector<float> x(n);
    NormalStream(3, "normals", 7).fill(std::span<float>(x));
    const auto words = plain_words(3, 2 * (n / 32 + 1));
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t word = i / 32 * 16 + i % 16 / 2;
      const unsigned half = 32 * (i % 2);
      const Pair expected = plain_pair(static_cast<std::uint32_t>(words[word] >> half),
                                       static_cast<std::uint32_t>(words[word + 8] >> half));
      EXPECT_NEAR(x[i], i % 32 < 16 ? expected.first : expected.second, single_precision);
    }
  }
}

TEST(NormalStream, NormalsAreTheTransformOfTheWordsAtEverySimdLevel) {
  testing::at_every_simd_level([](const std::string& level) {
    SCOPED_TRACE(level);
    expect_doubles_of_words();
    expect_floats_of_words();
  });
}

/// The edges of the radius: all bits 0 is the largest, all bits 1 the smallest.
TEST(NormalStream, ExtremeWordsGiveFiniteNormals) {
  for (const std::uint64_t word : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    std::array<std::uint64_t, 32> state{};
    std::fill_n(state.begin(), 8, word);
    double x[16];
    std::uint64_t bits[16];
    simd::normals(state.data(), 1, x, bits);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(bits[i], word);
      const Pair expected = plain_pair(bits[i], bits[8 + i]);
      EXPECT_NEAR(x[i], expected.first, 1e-14 * (1.0 + std::abs(expected.first)));
    }
    std::fill_n(state.begin(), 8, word);
    std::fill_n(state.begin() + 8, 24, 0);
    float y[32];
    simd::normals(state.data(), 1, y, nullptr);
    for (const float value : y) EXPECT_LT(std::abs(value), 6.7f);
  }
}

/// Kolmogorov's distance, and the correlation of neighbours and of their squares; false alarms of
/// 1e-7 each.
template <class Real>
void expect_normal_and_independent(std::vector<Real> x, std::size_t half) {
  const auto n = static_cast<double>(x.size());
  double product = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i + half < x.size(); ++i) {
    const double a = x[i];
    const double b = x[i + half];
    product += a * b;
    squares += (a * a - 1.0) * (b * b - 1.0) / 2.0;
  }
  EXPECT_LT(std::abs(product), 5.4 * std::sqrt(n));
  EXPECT_LT(std::abs(squares), 1.2 * 5.4 * std::sqrt(n));
  std::sort(x.begin(), x.end());
  double distance = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = boost::math::cdf(boost::math::normal(), static_cast<double>(x[i]));
    distance = std::max(distance, std::abs(p - (static_cast<double>(i) + 0.5) / n));
  }
  EXPECT_LT(distance, std::sqrt(-0.5 * std::log(0.5e-7) / n));
}

TEST(NormalStream, DoublesAreNormalAndIndependent) {
  std::vector<double> x(400'000);
  std::vector<std::uint64_t> bits(x.size());
  NormalStream(4, "pairs").fill(x, bits);
  double spare = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    spare += x[i] * (static_cast<double>(bits[i] & 4095) - 2047.5) / (4096.0 / std::sqrt(12.0));
  }
  EXPECT_LT(std::abs(spare), 5.4 * std::sqrt(400'000)) << "the lowest bits are free";
  for (const std::size_t half : {1u, 8u, 16u}) expect_normal_and_independent(x, half);
}

TEST(NormalStream, FloatsAreNormalAndIndependent) {
  std::vector<float> x(400'000);
  NormalStream(4, "pairs").fill(std::span<float>(x));
  for (const std::size_t half : {1u, 16u, 32u}) expect_normal_and_independent(x, half);
}

TEST(NormalStream, GoesOnWhereItWasAndDependsOnItsKey) {
  std::vector<double> all(64);
  NormalStream(1, "a", 2).fill(all);
  NormalStream stream(1, "a", 2);
  std::vector<double> half(32);
  stream.fill(half);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), all.begin()));
  stream.fill(half);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), all.begin() + 32));
  for (NormalStream other :
       {NormalStream(2, "a", 2), NormalStream(1, "b", 2), NormalStream(1, "a", 3)}) {
    other.fill(half);
    EXPECT_NE(half[0], all[0]);
  }
}

TEST(NormalStream, BitsOfAnotherNumberAreRefused) {
  std::vector<double> x(3);
  std::vector<std::uint64_t> bits(4);
  EXPECT_THROW(NormalStream(1, "pairs").fill(x, bits), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
