#include "numerics/simd/vector_math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "unit/numerics/simd_levels.hpp"
#include "unit/numerics/ulps.hpp"

namespace onset::numerics {
namespace {

using testing::at_every_simd_level;
using testing::ulps;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

constexpr double last_finite = 0x1.62e42fefa39efp+9;  // the largest x with a finite exp(x)

using Function = void (*)(std::span<const double>, std::span<double>);

std::vector<double> evaluate(Function f, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  f(x, y);
  return y;
}

std::vector<double> uniform_between(double low, double high, std::size_t count) {
  std::vector<double> x(count);
  Stream(1, "vector-math-test").uniform(x);
  for (double& value : x) value = low + (high - low) * value;
  return x;
}

template <class Reference>
double worst_ulps(Function f, const std::vector<double>& x, const Reference& reference) {
  const std::vector<double> y = evaluate(f, x);
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, ulps(y[i], reference(static_cast<long double>(x[i]))));
  }
  return worst;
}

TEST(VectorExp, IsRightToTwoUnitsFromUnderflowToOverflow) {
  const auto reference = [](long double x) { return std::exp(x); };
  at_every_simd_level([&](const std::string& level) {
    SCOPED_TRACE(level);
    for (const auto& [low, high] : {std::pair{-1.0, 1.0},
                                    {-40.0, 40.0},
                                    {-708.0, 706.0},
                                    {706.0, 709.78},
                                    {-745.2, -708.0},
                                    {-1e-300, 1e-300}}) {
      EXPECT_LE(worst_ulps(simd::exp, uniform_between(low, high, 20'000), reference), 2.0)
          << low << " " << high;
    }
  });
}

TEST(VectorExp, OverflowsToInfinityUnderflowsToZeroAndKeepsNan) {
  at_every_simd_level([](const std::string& level) {
    SCOPED_TRACE(level);
    const std::vector<double> y =
        evaluate(simd::exp, {0.0, -0.0, last_finite, std::nextafter(last_finite, infinity), 1e4,
                             1e300, infinity, -745.2, -1e4, -1e300, -infinity, nan});
    EXPECT_EQ(y[0], 1.0);
    EXPECT_EQ(y[1], 1.0);
    EXPECT_LE(ulps(y[2], std::exp(static_cast<long double>(last_finite))), 2.0);
    for (std::size_t i : {3, 4, 5, 6}) EXPECT_EQ(y[i], infinity) << i;
    for (std::size_t i : {7, 8, 9, 10}) EXPECT_EQ(y[i], 0.0) << i;
    EXPECT_TRUE(std::isnan(y[11]));
  });
}

TEST(VectorLog, IsRightToFourUnitsIncludingSubnormals) {
  const auto reference = [](long double x) { return std::log(x); };
  std::vector<double> wide = uniform_between(-1074.0, 1024.0, 20'000);
  for (double& x : wide) x = std::exp2(x);
  at_every_simd_level([&](const std::string& level) {
    SCOPED_TRACE(level);
    EXPECT_LE(worst_ulps(simd::log, wide, reference), 4.0);
    EXPECT_LE(worst_ulps(simd::log, uniform_between(0.5, 2.0, 20'000), reference), 4.0);
    EXPECT_LE(worst_ulps(simd::log, uniform_between(1.0 - 1e-9, 1.0 + 1e-9, 20'000), reference),
              4.0);
    EXPECT_LE(worst_ulps(simd::log, {smallest, 3 * smallest, 0x1p-1022, 0x1.fffffffffffffp1023},
                         reference),
              4.0);
  });
}

TEST(VectorLog, HandlesZeroInfinityNegativesAndNan) {
  at_every_simd_level([](const std::string& level) {
    SCOPED_TRACE(level);
    const std::vector<double> y =
        evaluate(simd::log, {1.0, 0.0, -0.0, infinity, -1.0, -infinity, nan, -smallest});
    EXPECT_EQ(y[0], 0.0);
    EXPECT_EQ(y[1], -infinity);
    EXPECT_EQ(y[2], -infinity);
    EXPECT_EQ(y[3], infinity);
    for (std::size_t i : {4, 5, 6, 7}) EXPECT_TRUE(std::isnan(y[i])) << i;
  });
}

TEST(VectorSigmoid, IsRightToFourUnitsOnBothSides) {
  const auto reference = [](long double x) { return 1.0L / (1.0L + std::exp(-x)); };
  at_every_simd_level([&](const std::string& level) {
    SCOPED_TRACE(level);
    for (const auto& [low, high] : {std::pair{-1.0, 1.0}, {-40.0, 40.0}, {-745.0, -40.0}}) {
      EXPECT_LE(worst_ulps(simd::sigmoid, uniform_between(low, high, 20'000), reference), 4.0)
          << low << " " << high;
    }
    const std::vector<double> y =
        evaluate(simd::sigmoid, {0.0, 40.0, 1e300, infinity, -infinity, nan});
    EXPECT_EQ(y[0], 0.5);
    EXPECT_EQ(y[1], 1.0);
    EXPECT_EQ(y[2], 1.0);
    EXPECT_EQ(y[3], 1.0);
    EXPECT_EQ(y[4], 0.0);
    EXPECT_TRUE(std::isnan(y[5]));
  });
}

TEST(VectorMath, AnElementDoesNotDependOnItsPlaceOrItsNeighbours) {
  std::vector<double> x = uniform_between(0.001, 0.999, 600);
  x[3] = 0.0;
  x[300] = nan;
  x[301] = 1e-14;
  at_every_simd_level([&](const std::string& level) {
    SCOPED_TRACE(level);
    for (const Function f : {simd::exp, simd::log, simd::sigmoid, simd::normal_quantile}) {
      const std::vector<double> together = evaluate(f, x);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double alone = evaluate(f, {x[i]})[0];
        EXPECT_EQ(std::bit_cast<std::uint64_t>(alone), std::bit_cast<std::uint64_t>(together[i]))
            << i;
      }
    }
  });
}

TEST(VectorMath, WorksInPlaceAndOnEverySmallSize) {
  for (std::size_t size = 0; size <= 20; ++size) {
    const std::vector<double> x = uniform_between(0.001, 0.999, size);
    for (const Function f : {simd::exp, simd::log, simd::sigmoid, simd::normal_quantile}) {
      std::vector<double> in_place = x;
      f(in_place, in_place);
      EXPECT_EQ(in_place, evaluate(f, x)) << size;
    }
  }
}

TEST(VectorMath, RefusesSpansOfDifferentSizes) {
  std::vector<double> x(3);
  std::vector<double> y(4);
  EXPECT_THROW(simd::exp(x, y), InvalidArgument);
  EXPECT_THROW(simd::normal_quantile(x, y), InvalidArgument);
}

TEST(SimdLevel, EverySupportedLevelCanBeUsed) {
  EXPECT_FALSE(simd::supported_levels().empty());
  at_every_simd_level([](const std::string& level) { EXPECT_EQ(simd::level(), level); });
}

TEST(SimdLevel, ComesFromTheEnvironment) {
  const char* before = std::getenv("ONSET_SIMD");
  const std::string restore = before == nullptr ? "" : before;
  const std::string last = simd::supported_levels().back();
  setenv("ONSET_SIMD", last.c_str(), 1);
  simd::set_level("");
  EXPECT_EQ(simd::level(), last);
  setenv("ONSET_SIMD", "AVX99", 1);
  try {
    simd::set_level("");
    FAIL() << "an unknown level was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.field(), "ONSET_SIMD");
    EXPECT_NE(std::string(error.what()).find(last), std::string::npos) << error.what();
  }
  setenv("ONSET_SIMD", restore.c_str(), 1);
  simd::set_level("");
}

}  // namespace
}  // namespace onset::numerics
