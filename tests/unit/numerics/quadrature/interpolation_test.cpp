#include "onset/numerics/interpolation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "onset/core/error.hpp"
#include "support/complaint.hpp"
#include "support/tolerances.hpp"

namespace onset::numerics {
namespace {

Interpolant sampled(const std::function<double(double)>& f, double low, double high, int count) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i < count; ++i) {
    x.push_back(low + (high - low) * i / (count - 1));
    y.push_back(f(x.back()));
  }
  return Interpolant(x, y);
}

double worst_error(const Interpolant& p, const std::function<double(double)>& f) {
  double worst = 0.0;
  constexpr int steps = 1000;
  for (int k = 0; k <= steps; ++k) {
    const double x = p.front() + (p.back() - p.front()) * k / steps;
    worst = std::fmax(worst, std::abs(p(x) - f(x)));
  }
  return worst;
}

TEST(Interpolant, ReproducesItsNodes) {
  const std::vector<double> x = {-1.0, -0.2, 0.1, 0.15, 2.0, 7.0};
  const std::vector<double> y = {3.0, 1e6, -2.0, 0.0, 5.5, -1e-3};
  const Interpolant p(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(p(x[i]), y[i]) << i;
  EXPECT_EQ(p.front(), -1.0);
  EXPECT_EQ(p.back(), 7.0);
}

TEST(Interpolant, IsExactForCubicPolynomials) {
  const auto cubic = [](double x) { return 1.0 + x * (2.0 + x * (-3.0 + 0.5 * x)); };
  for (const int count : {4, 5, 9, 20}) {
    EXPECT_LT(worst_error(sampled(cubic, -2.0, 2.0, count), cubic), 1e-12) << count;
  }
}

TEST(Interpolant, ConvergesAtOrderFourOnASmoothFunction) {
  const auto f = [](double x) { return std::exp(std::sin(2.0 * x)); };
  double before = worst_error(sampled(f, 0.0, 3.0, 41), f);
  for (const int count : {81, 161, 321}) {
    const double error = worst_error(sampled(f, 0.0, 3.0, count), f);
    // Halving the spacing divides the error by 16; the place of the worst error may move.
    EXPECT_GT(before / error, 12.0) << count;
    EXPECT_LT(before / error, 24.0) << count;
    before = error;
  }
  EXPECT_LT(before, 1e-6);
}

TEST(Interpolant, HasNoPolesBetweenUnevenNodes) {
  // Runge's function at nodes that crowd at one end, as those of a branch do.
  const auto f = [](double x) { return 1.0 / (1.0 + 25.0 * x * x); };
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 0; i <= 40; ++i) {
    x.push_back(-1.0 + 2.0 * std::pow(i / 40.0, 2));
    y.push_back(f(x.back()));
  }
  EXPECT_LT(worst_error(Interpolant(x, y), f), 1e-2);
}

TEST(Interpolant, ACopyOutlivesTheOriginal) {
  auto original = std::make_unique<Interpolant>(sampled([](double x) { return x; }, 0.0, 1.0, 5));
  const Interpolant copy = *original;
  original.reset();
  EXPECT_NEAR(copy(0.3), 0.3, tolerance::few_roundings);
}

TEST(Interpolant, RefusesBadNodes) {
  const auto field = [](std::vector<double> x, std::vector<double> y) {
    return testing::wrong_field([&] { const Interpolant p(std::move(x), std::move(y)); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(field({0, 1, 2, 3}, {0, 1, 2, 3}), "none");
  EXPECT_EQ(field({0, 1, 2}, {0, 1, 2}), "nodes");
  EXPECT_EQ(field({}, {}), "nodes");
  EXPECT_EQ(field({0, 1, 2, 3}, {0, 1, 2}), "nodes");
  EXPECT_EQ(field({0, 1, 1, 3}, {0, 1, 2, 3}), "nodes");
  EXPECT_EQ(field({0, 2, 1, 3}, {0, 1, 2, 3}), "nodes");
  EXPECT_EQ(field({3, 2, 1, 0}, {0, 1, 2, 3}), "nodes");
  EXPECT_EQ(field({0, nan, 2, 3}, {0, 1, 2, 3}), "nodes");
}

}  // namespace
}  // namespace onset::numerics
