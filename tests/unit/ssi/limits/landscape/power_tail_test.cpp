#include "ssi/limits/landscape/power_tail.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace onset::ssi {
namespace {

/// sqrt(1 - m^2) + m asin m, whose slope is asin m: its coefficients fall like s^(-5/2).
std::vector<double> coefficients(std::size_t degree) {
  std::vector<double> a(degree + 1, 0.0);
  double ratio = 1.0;  // binomial(2 n, n)/4^n: asin m = sum of ratio m^(2n+1)/(2n+1)
  a[0] = 1.0;
  for (std::size_t s = 2; s <= degree; s += 2) {
    const auto order = static_cast<double>(s);
    a[s] = ratio / ((order - 1.0) * order);
    ratio *= (order - 1.0) / order;
  }
  return a;
}

double cut_slope(const std::vector<double>& a, double m) {
  double sum = 0.0;
  for (std::size_t s = 1; s < a.size(); ++s) {
    sum += static_cast<double>(s) * a[s] * std::pow(m, static_cast<double>(s) - 1.0);
  }
  return sum;
}

TEST(PowerTail, ContinuesTheSlopeOfASeriesWithARoot) {
  const auto off = [](std::size_t degree, double m) {
    const auto a = coefficients(degree);
    return std::abs(cut_slope(a, m) + PowerTail(a).slope(m) - std::asin(m));
  };
  // What the third term of the law leaves falls like the degree to the power -5/2, up to the next
  // term, which is smaller by the degree.
  constexpr double of_the_next_term = 0.1;
  EXPECT_NEAR(std::log(off(64, 1.0) / off(256, 1.0)) / std::log(4.0), 2.5, of_the_next_term);
  for (const double m : {-1.0, -0.9, 0.5, 0.99, 0.9999}) {
    EXPECT_LE(off(64, m), off(64, 1.0)) << m;
  }
  const double cut = std::abs(cut_slope(coefficients(64), 1.0) - std::asin(1.0));
  EXPECT_GT(cut, 500.0 * off(64, 1.0)) << "a cut series misses far more";
}

TEST(PowerTail, IsNothingWhereNothingIsLeftOut) {
  std::vector<double> polynomial(65, 0.0);
  polynomial[2] = 1.0;
  EXPECT_EQ(PowerTail(polynomial).slope(1.0), 0.0);
  EXPECT_EQ(PowerTail().slope(1.0), 0.0);
}

}  // namespace
}  // namespace onset::ssi
