#include "onset/numerics/hermite.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "numerics/quadrature/chebyshev.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

TEST(HermitePolynomials, AreOrthonormalUnderTheNormalWeight) {
  const Rule rule = gauss_hermite(20);
  for (std::size_t j = 0; j < 8; ++j) {
    for (std::size_t k = 0; k < 8; ++k) {
      double sum = 0.0;
      for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
        std::array<double, 8> h{};
        hermite_polynomials(rule.nodes[i], h);
        sum += rule.weights[i] * h[j] * h[k];
      }
      EXPECT_NEAR(sum, j == k ? 1.0 : 0.0, tolerance::thousands_of_roundings);
    }
  }
}

BatchFunction product_of_polynomials() {
  // h_3(x) h_1(y) - 2 h_2(x), by hand.
  return {2, 1, [](std::size_t count, const double* x, double* out) {
            for (std::size_t i = 0; i < count; ++i) {
              const double a = x[i];
              const double b = x[count + i];
              out[i] = (a * a * a - 3 * a) / std::sqrt(6.0) * b - std::sqrt(2.0) * (a * a - 1);
            }
          }};
}

TEST(HermiteSeries, FindsTheCoefficientsOfAPolynomial) {
  for (const Rule& rule : {gauss_hermite(10), normal_trapezoid(0.2, 10.0)}) {
    const auto f = hermite_series(product_of_polynomials(), rule, 5);
    EXPECT_NEAR(f.square, 5.0, tolerance::many_roundings);
    EXPECT_NEAR(f.series.weight(4), 1.0, tolerance::many_roundings);
    EXPECT_NEAR(f.series.weight(2), 4.0, tolerance::many_roundings);
    EXPECT_NEAR(f.series.weight(3), 0.0, tolerance::squared_roundings);
    EXPECT_NEAR(f.rest(), 0.0, tolerance::magnified_roundings);
    const std::array<std::size_t, 2> k{3, 1};
    EXPECT_NEAR(f.series.at(0, f.series.place(k)), 1.0, tolerance::thousands_of_roundings);
  }
}

/// 3 + h_3(x) h_1(y) - 2 h_2(x): weights 9 at degree 0, 4 at 2 and 1 at 4.
HermiteProjection with_a_mean(std::size_t degree) {
  BatchFunction f = product_of_polynomials();
  f.evaluate = [plain = f.evaluate](std::size_t count, const double* x, double* out) {
    plain(count, x, out);
    for (std::size_t i = 0; i < count; ++i) out[i] += 3.0;
  };
  return hermite_series(f, gauss_hermite(10), degree);
}

TEST(HermiteSeries, WeightsAddUpToTheSquareAndTheRestIsWhatIsBeyondItsDegree) {
  const auto f = with_a_mean(5);
  double total = 0.0;
  for (std::size_t s = 0; s <= 5; ++s) total += f.series.weight(s);
  // Rounding of some hundreds of terms of order ten.
  constexpr double rounding = 1e-11;
  EXPECT_NEAR(total, f.square, rounding);
  EXPECT_NEAR(f.square, 14.0, rounding);
  EXPECT_NEAR(with_a_mean(3).rest(), 1.0, rounding);
  EXPECT_NEAR(with_a_mean(1).rest(), 5.0, rounding);
}

TEST(HermiteSeries, RefusesADegreeWhoseCoefficientsNoMemoryHolds) {
  constexpr std::size_t degree = 20'000;  // squared, more than the 2e8 numbers that are allowed
  EXPECT_THROW((void)hermite_series(product_of_polynomials(), gauss_hermite(3), degree),
               InvalidArgument);
}

TEST(HermiteSeries, DerivativeIsTheSeriesOfTheDerivative) {
  const auto f = hermite_series(product_of_polynomials(), gauss_hermite(12), 5);
  const std::array<double, 2> direction{1.0, -1.0};
  const auto slope = f.series.derivative(direction);
  // d/dx - d/dy of h_3(x) h_1(y) - 2 h_2(x) = sqrt(3) h_2(x) h_1(y) - h_3(x) - 2 sqrt(2) h_1(x).
  EXPECT_NEAR(slope.weight(3), 3.0 + 1.0, tolerance::many_roundings);
  EXPECT_NEAR(slope.weight(1), 8.0, tolerance::many_roundings);
}

TEST(HermiteSeries, AShiftIsTaylorsFormula) {
  const std::array<double, 2> shift{0.3, -0.3};
  const auto at_0 = hermite_series(product_of_polynomials(), gauss_hermite(12), 5);
  const auto moved = hermite_series(product_of_polynomials(), gauss_hermite(12), 5, shift);
  HermiteSeries term = at_0.series;
  double mean = 0.0;
  double power = 1.0;
  for (int j = 0; j <= 5; ++j) {
    mean += power * term.at(0, 0);
    power *= 0.3 / (j + 1);
    const std::array<double, 2> direction{1.0, -1.0};
    term = term.derivative(direction);
  }
  EXPECT_NEAR(moved.series.at(0, 0), mean, tolerance::thousands_of_roundings);
}

TEST(NormalTrapezoid, HasNoNodeAtZeroAndWeightsThatSumToOne) {
  const Rule rule = normal_trapezoid(0.25, 8.0);
  double sum = 0.0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    EXPECT_NE(rule.nodes[i], 0.0);
    sum += rule.weights[i];
  }
  EXPECT_NEAR(sum, 1.0, tolerance::dozens_of_roundings);
  EXPECT_THROW((void)normal_trapezoid(0.0, 8.0), InvalidArgument);
}

TEST(Chebyshev, InterpolatesASmoothFunctionAndItsDerivatives) {
  const auto x = chebyshev_points(24);
  std::vector<double> values;
  for (const double t : x) values.push_back(std::exp(t));
  const auto a = chebyshev_coefficients(values);
  const auto basis = chebyshev_basis(0.37, 24);
  double value = 0.0;
  double slope = 0.0;
  double curvature = 0.0;
  for (std::size_t j = 0; j < 24; ++j) {
    value += a[j] * basis.value[j];
    slope += a[j] * basis.slope[j];
    curvature += a[j] * basis.curvature[j];
  }
  EXPECT_NEAR(value, std::exp(0.37), tolerance::hundreds_of_roundings);
  EXPECT_NEAR(slope, std::exp(0.37), tolerance::thousands_of_roundings);
  EXPECT_NEAR(curvature, std::exp(0.37), tolerance::magnified_roundings);
}

}  // namespace
}  // namespace onset::numerics
