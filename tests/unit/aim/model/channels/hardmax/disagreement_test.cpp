#include "aim/model/channels/hardmax/disagreement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "numerics/random/stream.hpp"

namespace onset::aim {
namespace {

/// The trapezoidal rule leaves some units in the last place of sums of thousands of terms.
constexpr double trapezoid_rounding = 1e-13;

TEST(RowDisagreement, TwoTokensHaveAnAngle) {
  EXPECT_DOUBLE_EQ(row_disagreement(0.3, 2), 0.3 / std::numbers::pi);
}

/// Rows that know nothing of one another agree by chance. With three tokens the diagonal wins with
/// probability 1/4 + arcsin(2/3)/(2 pi).
TEST(RowDisagreement, IndependentRowsAgreeByChance) {
  const double diagonal = 0.25 + std::asin(2.0 / 3.0) / (2.0 * std::numbers::pi);
  const double other = 0.5 * (1.0 - diagonal);
  EXPECT_NEAR(row_disagreement(0.5 * std::numbers::pi, 3),
              1.0 - diagonal * diagonal - 2.0 * other * other, trapezoid_rounding);
}

TEST(RowDisagreement, EqualRowsAgreeAndNearOnesDisagreeByTheirAngle) {
  EXPECT_EQ(row_disagreement(0.0, 5), 0.0);
  // Entries change places where two of them cross: half the angle between the rows, half the share.
  // Where three meet the share is of second order, which is that small against the first here.
  constexpr double second_order = 1e-3;
  const double far = row_disagreement(std::acos(1.0 - 1e-6), 4);
  const double near = row_disagreement(std::acos(1.0 - 1e-6 / 4.0), 4);
  EXPECT_NEAR(near / far, 0.5, second_order);
}

/// Rows of three tokens whose leaders are close change by the angle, whatever else there is:
/// entries x_a, x_b with others below them cross at the rate |dx_a - dx_b|, so that share/angle is
/// sum_(a<b) E over the common value of both densities at equal height, times the rest's
/// probability to be below it, times E|difference of the others' normals|.
TEST(RowDisagreement, SmallAnglesHaveTheShareOfCrossings) {
  constexpr double step = 0.01;
  constexpr double reach = 12.0;
  constexpr double stated = 1e-9;  // relative
  const double pi = std::numbers::pi;
  const auto density = [pi](double x, double variance) {
    return std::exp(-0.5 * x * x / variance) / std::sqrt(2.0 * pi * variance);
  };
  const auto below = [](double x, double variance) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0 * variance));
  };
  for (const int tokens : {3, 4}) {
    double with_diagonal = 0.0;
    double without = 0.0;
    for (double x = -reach; x <= reach; x += step) {
      const double others = std::pow(below(x, 1.0), tokens - 2);
      with_diagonal += step * density(x, 2.0) * density(x, 1.0) * others;
      without += step * density(x, 1.0) * density(x, 1.0) * std::pow(below(x, 1.0), tokens - 3) *
                 below(x, 2.0);
    }
    const double pairs = 0.5 * (tokens - 1) * (tokens - 2);
    const double mean_size = std::sqrt(2.0 / pi);  // of a standard normal
    const double rate = mean_size * ((tokens - 1) * std::sqrt(3.0) * with_diagonal +
                                     pairs * std::sqrt(2.0) * without);
    for (const double angle : {1e-12, 1e-9}) {
      EXPECT_NEAR(row_disagreement(angle, tokens) / angle, rate, stated * rate);
    }
    // Where the two ways meet.
    const double middle = 0.02;
    const double less = row_disagreement(middle * (1.0 - stated), tokens);
    EXPECT_NEAR(row_disagreement(middle, tokens), less, 2.0 * stated * less);
  }
}

/// A million rows a case; false alarms at five deviations, 6e-7 a case.
TEST(RowDisagreement, IsTheShareOfDrawnRows) {
  struct Case {
    int tokens;
    double correlation;
  };
  constexpr std::size_t rows = 1'000'000;
  constexpr double deviations = 5.0;
  std::uint64_t which = 0;
  for (const Case& at : std::vector<Case>{{3, 0.5}, {3, 0.95}, {4, 0.8}, {6, -0.3}}) {
    const auto tokens = static_cast<std::size_t>(at.tokens);
    numerics::Stream stream(5, "rows", ++which);
    std::vector<double> a(tokens);
    std::vector<double> b(tokens);
    std::size_t different = 0;
    const double fresh = std::sqrt(1.0 - at.correlation * at.correlation);
    for (std::size_t i = 0; i < rows; ++i) {
      stream.normal(a);
      stream.normal(b);
      for (std::size_t t = 0; t < tokens; ++t) b[t] = at.correlation * a[t] + fresh * b[t];
      a[0] *= std::numbers::sqrt2;
      b[0] *= std::numbers::sqrt2;
      different +=
          std::ranges::max_element(a) - a.begin() != std::ranges::max_element(b) - b.begin();
    }
    const double expected = row_disagreement(std::acos(at.correlation), at.tokens);
    const double deviation = std::sqrt(expected * (1.0 - expected) / static_cast<double>(rows));
    EXPECT_NEAR(static_cast<double>(different) / static_cast<double>(rows), expected,
                deviations * deviation);
  }
}

}  // namespace
}  // namespace onset::aim
