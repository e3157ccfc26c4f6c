#include "aim/limits/flow/teacher_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

double moment(const TeacherLaw& law, int power) {
  double sum = 0.0;
  for (std::size_t j = 0; j < law.weights.size(); ++j) {
    sum += law.weights[j] * std::pow(law.eigenvalues[j], power);
  }
  return sum;
}

TEST(AimTeacherLaw, HasTheMomentsOfItsMatrix) {
  for (const double rho : {0.01, 0.2, 0.5, 1.0, 1.001, 3.0, 50.0}) {
    const TeacherLaw law = teacher_law(rho, 300);
    const double root = std::sqrt(rho);
    EXPECT_NEAR(moment(law, 0), 1.0, tolerance::thousands_of_roundings) << rho;
    EXPECT_NEAR(moment(law, 1), root, 1e-12 * root) << rho;
    EXPECT_NEAR(moment(law, 2), 1.0 + rho, 1e-12 * (1.0 + rho)) << rho;
    EXPECT_NEAR(moment(law, 3), 1.0 / root + 3.0 * root + rho * root,
                1e-12 * (1.0 / root + 3.0 * root + rho * root))
        << rho;
  }
}

TEST(AimTeacherLaw, QuantilesHaveTheLawOfTheNodes) {
  for (const double rho : {0.3, 1.0, 2.0}) {
    constexpr std::size_t size = 2000;
    const auto quantiles = teacher_quantiles(rho, size);
    ASSERT_EQ(quantiles.size(), size);
    EXPECT_TRUE(std::is_sorted(quantiles.begin(), quantiles.end()));
    double first = 0.0;
    double second = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      first += quantiles[i] / size;
      second += quantiles[i] * quantiles[i] / size;
    }
    // Midpoints in probability: of second order but for the edges, where the law is a power 3/2.
    constexpr double midpoints = 1e-3;
    // Squares weigh the upper edge more.
    constexpr double midpoints_of_squares = 5e-3;
    EXPECT_NEAR(first, std::sqrt(rho), midpoints);
    EXPECT_NEAR(second, 1.0 + rho, midpoints_of_squares);
    EXPECT_LE(quantiles.back(), max_teacher_eigenvalue(rho));
    const auto zeros = static_cast<double>(std::count(quantiles.begin(), quantiles.end(), 0.0));
    EXPECT_NEAR(zeros / size, std::max(0.0, 1.0 - rho), 1.0 / size);
  }
}

}  // namespace
}  // namespace onset::aim
