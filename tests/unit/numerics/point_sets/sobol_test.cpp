#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/point_sets/sobol.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::numerics {
namespace {

std::vector<double> all_points(const PointSet& set, std::size_t count) {
  std::vector<double> x(count * static_cast<std::size_t>(set.dimensions()));
  set.points(0, count, x);
  return x;
}

std::size_t cell(double x, std::size_t cells) {
  return static_cast<std::size_t>(x * static_cast<double>(cells));
}

TEST(ScrambledSobol, EveryDyadicIntervalHoldsOnePoint) {
  for (const std::uint64_t replicate : {0u, 1u, 5u}) {
    const auto set = scrambled_sobol(max_sobol_dimensions, 11, replicate);
    for (const std::size_t count : {1u, 2u, 16u, 256u, 1024u}) {
      const std::vector<double> x = all_points(*set, count);
      for (std::size_t d = 0; d < max_sobol_dimensions; ++d) {
        std::set<std::size_t> hit;
        for (std::size_t i = 0; i < count; ++i) hit.insert(cell(x[d * count + i], count));
        EXPECT_EQ(hit.size(), count) << d;
      }
    }
  }
}

TEST(ScrambledSobol, TheFirstTwoDimensionsFillEveryElementaryRectangle) {
  constexpr std::size_t count = 1024;
  const auto set = scrambled_sobol(2, 3, 0);
  const std::vector<double> x = all_points(*set, count);
  for (std::size_t columns = 1; columns <= count; columns *= 2) {
    std::set<std::pair<std::size_t, std::size_t>> hit;
    for (std::size_t i = 0; i < count; ++i) {
      hit.emplace(cell(x[i], columns), cell(x[count + i], count / columns));
    }
    EXPECT_EQ(hit.size(), count) << columns;
  }
}

TEST(ScrambledSobol, AnyRangeIsAPieceOfTheWhole) {
  constexpr std::size_t count = 2048;
  const auto set = scrambled_sobol(3, 1, 2);
  const std::vector<double> whole = all_points(*set, count);
  for (const auto& [first, size] : {std::pair<std::size_t, std::size_t>{0, 1},
                                    {1, 1},
                                    {3, 700},
                                    {511, 514},
                                    {1024, 1024},
                                    {2047, 1},
                                    {7, 0}}) {
    std::vector<double> piece(3 * size);
    set->points(first, size, piece);
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_EQ(piece[d * size + i], whole[d * count + first + i]);
      }
    }
  }
}

TEST(ScrambledSobol, ACoordinateDoesNotDependOnTheNumberOfDimensions) {
  const std::vector<double> few = all_points(*scrambled_sobol(2, 1, 0), 64);
  const std::vector<double> many = all_points(*scrambled_sobol(20, 1, 0), 64);
  for (std::size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i], many[i]);
}

TEST(ScrambledSobol, APrefixHasTheSamePoints) {
  EXPECT_EQ(all_points(*scrambled_sobol_prefix(5, 1, 7, 6), 64),
            all_points(*scrambled_sobol(5, 1, 7), 64));
  std::vector<double> out(5);
  EXPECT_THROW(scrambled_sobol_prefix(5, 1, 7, 6)->points(64, 1, out), InvalidArgument);
}

TEST(ScrambledSobol, PointsLieStrictlyInside) {
  for (const double x : all_points(*scrambled_sobol(8, 5, 0), 1 << 16)) {
    EXPECT_GT(x, 0.0);
    EXPECT_LT(x, 1.0);
  }
}

TEST(ScrambledSobol, EveryPointIsUniformOverReplicates) {
  // 4000 replicates of one point; five standard errors of the mean and of the mean square.
  constexpr int replicates = 4000;
  for (const std::size_t index : {0u, 1u, 37u}) {
    double mean_value = 0.0;
    double mean_square = 0.0;
    double correlation = 0.0;  // of neighbouring replicates
    double previous = 0.5;
    for (int r = 0; r < replicates; ++r) {
      double x[2];
      scrambled_sobol(2, 9, static_cast<std::uint64_t>(r))->points(index, 1, x);
      mean_value += x[1] / replicates;
      mean_square += x[1] * x[1] / replicates;
      correlation += (x[1] - 0.5) * (previous - 0.5) / replicates;
      previous = x[1];
    }
    EXPECT_NEAR(mean_value, 1.0 / 2.0, 5.0 * std::sqrt(1.0 / 12.0 / replicates));
    EXPECT_NEAR(mean_square, 1.0 / 3.0, 5.0 * std::sqrt(4.0 / 45.0 / replicates));
    EXPECT_NEAR(correlation, 0.0, 5.0 / 12.0 / std::sqrt(replicates));
  }
}

// Integral of prod_d (1 + (x_d - 1/2) / (d + 1)) over the cube: 1.
Replicates smooth_integral(std::size_t count) {
  constexpr int dimensions = 5;
  Replicates means;
  for (std::uint64_t r = 0; r < default_replicates; ++r) {
    const std::vector<double> x = all_points(*scrambled_sobol(dimensions, 21, r), count);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      double product = 1.0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        product *= 1.0 + (x[d * count + i] - 0.5) / static_cast<double>(d + 1);
      }
      sum += product;
    }
    means.push_back(sum / static_cast<double>(count));
  }
  return means;
}

TEST(ScrambledSobol, SmoothIntegralsConvergeFasterThanOneOverNAndErrorBarsCover) {
  const Estimate coarse = reduce(smooth_integral(1 << 6));
  const Estimate fine = reduce(smooth_integral(1 << 14));
  // 256 times as many points; n^-1 would give a factor 256, the theory n^-1.5 about 4096.
  EXPECT_LT(fine.error, coarse.error / 512.0);
  // Student t with 15 degrees of freedom exceeds 5 with odds of 1.6e-4.
  EXPECT_NEAR(coarse.value, 1.0, 5.0 * coarse.error);
  EXPECT_NEAR(fine.value, 1.0, 5.0 * fine.error);
}

TEST(ScrambledSobol, RefusesWrongDimensionsAndSpans) {
  EXPECT_THROW((void)scrambled_sobol(0, 1, 0), InvalidArgument);
  EXPECT_THROW((void)scrambled_sobol(max_sobol_dimensions + 1, 1, 0), InvalidArgument);
  std::vector<double> out(3);
  EXPECT_THROW(scrambled_sobol(2, 1, 0)->points(0, 2, out), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
