#include "numerics/linear_algebra/singular_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

TEST(SingularValues, OfADiagonalAreItsEntriesInDecreasingOrder) {
  const std::vector<double> matrix{0, 2, 0, 0, 0, -5, 1, 0, 0};
  std::vector<double> vectors;
  const std::vector<double> values = singular_values({matrix.data(), 3, 3}, vectors);
  const std::vector<double> expected{5, 2, 1};
  for (std::size_t k = 0; k < 3; ++k)
    EXPECT_NEAR(values[k], expected[k], tolerance::dozens_of_roundings);
  EXPECT_NEAR(std::abs(vectors[2]), 1.0,
              tolerance::dozens_of_roundings);  // 5 belongs to the last column
  EXPECT_NEAR(std::abs(vectors[4]), 1.0, tolerance::dozens_of_roundings);
}

TEST(SingularValues, VectorsAreOrthonormalAndStretchedByTheirValues) {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{40, 6}, {6, 9}, {7, 7}}) {
    std::vector<double> matrix(rows * columns);
    Stream(3, "singular values test", rows).normal(matrix);
    std::vector<double> vectors;
    const std::vector<double> values = singular_values({matrix.data(), rows, columns}, vectors);
    const std::vector<double> alone = singular_values({matrix.data(), rows, columns});
    ASSERT_EQ(values.size(), std::min(rows, columns));
    for (std::size_t k = 0; k < values.size(); ++k) {
      EXPECT_NEAR(values[k], alone[k], tolerance::hundreds_of_roundings);
      double length = 0.0;
      double along = 0.0;
      double stretched = 0.0;
      for (std::size_t c = 0; c < columns; ++c) {
        length += vectors[k * columns + c] * vectors[k * columns + c];
        along += vectors[k * columns + c] * vectors[c];
      }
      for (std::size_t r = 0; r < rows; ++r) {
        double sum = 0.0;
        for (std::size_t c = 0; c < columns; ++c) {
          sum += matrix[r * columns + c] * vectors[k * columns + c];
        }
        stretched += sum * sum;
      }
      EXPECT_NEAR(length, 1.0, tolerance::hundreds_of_roundings);
      EXPECT_NEAR(along, k == 0 ? 1.0 : 0.0, tolerance::hundreds_of_roundings);
      EXPECT_NEAR(std::sqrt(stretched), values[k], tolerance::hundreds_of_roundings);
    }
  }
}

TEST(SingularValues, WhatIsNotFiniteIsMisuse) {
  const std::vector<double> matrix{1.0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW((void)singular_values({matrix.data(), 1, 2}), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
