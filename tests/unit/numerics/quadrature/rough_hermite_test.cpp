#include "numerics/quadrature/rough_hermite.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/numerics/expression.hpp"

namespace onset::numerics {
namespace {

constexpr double rounding = 1e-12;

/// An expression of x and y with its switches.
HermiteBracket project(const std::string& text, std::vector<std::string> names,
                       std::size_t degree) {
  const Expression expression(text, {std::move(names), ""});
  const BatchFunction f{
      expression.variables(), 1,
      [&](std::size_t count, const double* x, double* out) { expression.values(count, x, out); }};
  const BatchFunction switches{expression.variables(), expression.switches(),
                               [&](std::size_t count, const double* x, double* out) {
                                 expression.switch_values(count, x, out);
                               }};
  return rough_hermite_series(f, switches, degree, 1.0, Context{});
}

double density(double x) {
  return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

double at(const HermiteProjection& p, std::vector<std::size_t> k) {
  return p.series.at(0, p.series.place(k));
}

/// E[relu(Z - c)] = phi(c) - c (1 - Phi(c)), and E[relu(Z - c) h_1] = 1 - Phi(c).
TEST(RoughHermite, AKinkAnywhereIsExact) {
  const auto bracket = project("relu(x - 0.3)", {"x"}, 4);
  const double above = 0.5 * std::erfc(0.3 / std::numbers::sqrt2);
  EXPECT_NEAR(at(bracket.fine, {0}), density(0.3) - 0.3 * above, rounding);
  EXPECT_NEAR(at(bracket.fine, {1}), above, rounding);
  EXPECT_NEAR(at(bracket.fine, {2}), density(0.3) / std::numbers::sqrt2, rounding);
  EXPECT_NEAR(bracket.fine.square, (1.0 + 0.09) * above - 0.3 * density(0.3), rounding);
  EXPECT_NEAR(at(bracket.coarse, {2}), at(bracket.fine, {2}), rounding);
}

TEST(RoughHermite, AJumpOffEveryGridIsExact) {
  const auto bracket = project("step(x - 0.3)", {"x"}, 3);
  EXPECT_NEAR(at(bracket.fine, {0}), 0.5 * std::erfc(0.3 / std::numbers::sqrt2), rounding);
  EXPECT_NEAR(at(bracket.fine, {3}), (0.09 - 1.0) * density(0.3) / std::sqrt(6.0), rounding);
}

/// max(x, y) has mean 1/sqrt(pi) and E[max h_1(x)] = 1/2.
TEST(RoughHermite, AKinkAcrossTwoAxesIsExact) {
  const auto bracket = project("max(x, y)", {"x", "y"}, 4);
  EXPECT_NEAR(at(bracket.fine, {0, 0}), std::numbers::inv_sqrtpi, rounding);
  EXPECT_NEAR(at(bracket.fine, {1, 0}), 0.5, rounding);
  EXPECT_NEAR(at(bracket.fine, {0, 1}), 0.5, rounding);
  EXPECT_NEAR(bracket.fine.square, 1.0, rounding);
}

/// Jumps along both axes: g_11 = (2/pi), the square of E[sign(x) x].
TEST(RoughHermite, JumpsAlongBothAxesAreExact) {
  const auto bracket = project("sign(x*y)", {"x", "y"}, 4);
  EXPECT_NEAR(at(bracket.fine, {1, 1}), 2.0 / std::numbers::pi, rounding);
  EXPECT_NEAR(at(bracket.fine, {2, 2}), 0.0, rounding);
  EXPECT_NEAR(at(bracket.fine, {1, 3}), -2.0 / std::numbers::pi / std::sqrt(6.0), rounding);
  EXPECT_NEAR(bracket.fine.square, 1.0, rounding);
}

/// A jump along the outer axis, off every edge: E[sign(x - 0.3)] E[sign(y) y].
TEST(RoughHermite, AJumpAlongTheOuterAxisIsExact) {
  const auto bracket = project("sign((x - 0.3)*y)", {"x", "y"}, 2);
  const double mean = -std::erf(0.3 / std::numbers::sqrt2);
  EXPECT_NEAR(at(bracket.fine, {0, 1}), mean * std::sqrt(2.0 / std::numbers::pi), rounding);
  EXPECT_NEAR(bracket.fine.square, 1.0, rounding);
}

/// Two of them in one panel: bisection alone would run out of halvings.
TEST(RoughHermite, JumpsAlongTheOuterAxisAreCut) {
  const auto bracket = project("sign((x - 0.3)*(x - 0.71)*y)", {"x", "y"}, 2);
  const double between =
      0.5 * (std::erf(0.71 / std::numbers::sqrt2) - std::erf(0.3 / std::numbers::sqrt2));
  EXPECT_NEAR(at(bracket.fine, {0, 1}), (1.0 - 2.0 * between) * std::sqrt(2.0 / std::numbers::pi),
              rounding);
}

TEST(RoughHermite, OrdersBelongToTheirAxes) {
  const auto bracket = project("x*(y^2 - 1)", {"x", "y"}, 3);
  EXPECT_NEAR(at(bracket.fine, {1, 2}), std::numbers::sqrt2, rounding);
  EXPECT_NEAR(at(bracket.fine, {2, 1}), 0.0, rounding);
  EXPECT_NEAR(bracket.fine.square, 2.0, rounding);
}

TEST(RoughHermite, LargeValuesFarOutCostNoMoreThanTheyCount) {
  // At x = 10 the function is a thousand times its scale, and its rounding above any small error.
  const auto bracket = project("(x^3-3*x)*max(y,0)", {"x", "y"}, 40);
  EXPECT_NEAR(at(bracket.fine, {3, 1}), 0.5 * std::sqrt(6.0), rounding);
  EXPECT_NEAR(bracket.fine.square, 3.0, rounding);
}

TEST(RoughHermite, AStopIsHeeded) {
  std::stop_source stop;
  stop.request_stop();
  Context context;
  context.stop = stop.get_token();
  const BatchFunction f{2, 1, [](std::size_t count, const double* x, double* out) {
                          for (std::size_t i = 0; i < count; ++i) out[i] = std::abs(x[i]);
                        }};
  EXPECT_THROW((void)rough_hermite_series(f, {2, 0, {}}, 4, 1.0, context), Interrupted);
}

/// P(x^2 + y^2 > c) = exp(-c/2): the outer integrand has roots at x^2 = c, where the cuts of inner
/// lines meet, for bisection to find.
TEST(RoughHermite, ADiskIsExact) {
  const auto bracket = project("step(x^2 + y^2 - 1.21)", {"x", "y"}, 2);
  EXPECT_NEAR(bracket.fine.square, std::exp(-0.605), rounding);
}

}  // namespace
}  // namespace onset::numerics
