#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "numerics/point_sets/lattice_search.hpp"
#include "numerics/point_sets/quasi_monte_carlo.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::numerics {
namespace {

constexpr std::uint32_t generators[] = {
#include "numerics/point_sets/lattice_generators.inc"
};

std::vector<double> all_points(const PointSet& set, std::size_t count) {
  std::vector<double> x(count * static_cast<std::size_t>(set.dimensions()));
  set.points(0, count, x);
  return x;
}

TEST(ShiftedLattice, PointsHalfTheSizeApartAreExactReflections) {
  for (const std::size_t size : {2u, 64u, 4096u, 65536u}) {
    const auto set = shifted_lattice(max_lattice_dimensions, size, 5, 1);
    const std::vector<double> x = all_points(*set, size);
    for (std::size_t d = 0; d < max_lattice_dimensions; ++d) {
      for (std::size_t i = 0; i < size / 2; ++i) {
        ASSERT_EQ(x[d * size + i], 1.0 - x[d * size + i + size / 2]);
      }
    }
  }
}

TEST(ShiftedLattice, PointsLieStrictlyInsideAndFillEveryAxisEvenly) {
  constexpr std::size_t size = 1024;
  const auto set = shifted_lattice(max_lattice_dimensions, size, 2, 0);
  const std::vector<double> x = all_points(*set, size);
  for (std::size_t d = 0; d < max_lattice_dimensions; ++d) {
    // The tent folds two shifted grids of half the size onto the axis: two points per 2/size.
    std::vector<int> hits(size / 2);
    for (std::size_t i = 0; i < size; ++i) {
      const double value = x[d * size + i];
      ASSERT_GT(value, 0.0);
      ASSERT_LT(value, 1.0);
      ++hits[static_cast<std::size_t>(value * (size / 2))];
    }
    EXPECT_EQ(hits, std::vector<int>(size / 2, 2)) << d;
  }
}

TEST(ShiftedLattice, AnyRangeIsAPieceOfTheWhole) {
  constexpr std::size_t size = 2048;
  const auto set = shifted_lattice(3, size, 1, 2);
  const std::vector<double> whole = all_points(*set, size);
  for (const auto& [first, count] :
       {std::pair<std::size_t, std::size_t>{0, 1}, {3, 700}, {2047, 1}, {1000, 0}}) {
    std::vector<double> piece(3 * count);
    set->points(first, count, piece);
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(piece[d * count + i], whole[d * size + first + i]);
      }
    }
  }
}

// E prod_d (1 + a_d (x_d^2 - 1/3)) with a_d = 1/(d+1): 1 exactly.
Replicates smooth_integral(std::size_t size) {
  constexpr int dimensions = 4;
  Replicates means;
  for (std::uint64_t r = 0; r < default_replicates; ++r) {
    const std::vector<double> x = all_points(*shifted_lattice(dimensions, size, 4, r), size);
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      double product = 1.0;
      for (std::size_t d = 0; d < dimensions; ++d) {
        const double u = x[d * size + i];
        product *= 1.0 + (u * u - 1.0 / 3.0) / static_cast<double>(d + 1);
      }
      sum += product;
    }
    means.push_back(sum / static_cast<double>(size));
  }
  return means;
}

TEST(ShiftedLattice, SmoothIntegralsConvergeNearlyAsNToTheMinusTwoAndErrorBarsCover) {
  const Estimate coarse = reduce(smooth_integral(1 << 6));
  const Estimate fine = reduce(smooth_integral(1 << 14));
  // 256 times as many points; order 2 would give 65536, order 1 only 256.
  EXPECT_LT(fine.error, coarse.error / 4096.0);
  // Student t with 15 degrees of freedom exceeds 5 with odds of 1.6e-4.
  EXPECT_NEAR(coarse.value, 1.0, 5.0 * coarse.error);
  EXPECT_NEAR(fine.value, 1.0, 5.0 * fine.error);
}

TEST(ShiftedLattice, RefusesWrongSizesAndDimensions) {
  EXPECT_THROW((void)shifted_lattice(0, 64, 1, 0), InvalidArgument);
  EXPECT_THROW((void)shifted_lattice(25, 64, 1, 0), InvalidArgument);
  EXPECT_THROW((void)shifted_lattice(2, 100, 1, 0), InvalidArgument);
  EXPECT_THROW((void)shifted_lattice(2, 0, 1, 0), InvalidArgument);
  EXPECT_THROW((void)shifted_lattice(2, 1 << 17, 1, 0), InvalidArgument);
  std::vector<double> out(4);
  EXPECT_THROW(shifted_lattice(2, 64, 1, 0)->points(63, 2, out), InvalidArgument);
}

TEST(LatticeGenerators, AreOddAndDifferent) {
  std::set<std::uint32_t> seen;
  for (const std::uint32_t generator : generators) {
    EXPECT_EQ(generator % 2, 1u);
    EXPECT_TRUE(seen.insert(generator).second) << generator;
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(max_lattice_dimensions));
}

TEST(LatticeGenerators, TheSearchFindsTheSecondOneAgain) {
  LatticeSearch search(16);
  search.append(generators[0]);
  EXPECT_EQ(search.best(), generators[1]);
}

TEST(LatticeGenerators, AreNearlyAsGoodAsTheBestOfOneSize) {
  // A search for the single size 2^10, which need not be good at any other.
  constexpr int bits = 10;
  LatticeSearch committed(bits, bits);
  LatticeSearch best(bits, bits);
  for (int d = 0; d < 8; ++d) {
    const std::uint32_t generator = best.best();
    const double ours = committed.merits(generators[d])[0];
    const double lowest = best.merits(generator)[0];
    EXPECT_LT(ours, 2.0 * lowest) << d + 1 << " dimensions";
    committed.append(generators[d]);
    best.append(generator);
  }
}

}  // namespace
}  // namespace onset::numerics
