#include "aim/limits/erm/recovery.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aim/limits/erm/quadratic.hpp"

namespace onset::aim {
namespace {

TEST(TraceRecovery, HasTheValuesOfAnIndependentProgram) {
  constexpr double printed = 5e-8;
  for (const auto& [rho, equations] : {std::pair{0.01, 0.0462844},
                                       {0.05, 0.1840147},
                                       {0.1, 0.3151436},
                                       {0.2, 0.5111239},
                                       {0.3, 0.6543091},
                                       {0.5, 0.8443500},
                                       {0.7, 0.9492458},
                                       {0.9, 0.9948103},
                                       {1.0, 1.0}}) {
    EXPECT_NEAR(trace_recovery(rho), equations, printed) << rho;
    EXPECT_GT(trace_recovery(rho), std::min(1.0, 2.0 * rho - rho * rho) - 1e-15);  // counting
  }
  // Six samples an unknown at small widths, where the best estimate needs two [aim 99]; corrections
  // are of order rho^(2/5).
  EXPECT_NEAR(trace_recovery(1e-6) / 6e-6, 1.0, std::pow(1e-6, 0.4) * 2.0);
}

TEST(TraceRecovery, IsWhereTheInterpolatorBecomesTheTeacher) {
  for (const double rho : {0.1, 0.4, 0.8}) {
    const double equations = trace_recovery(rho);
    EXPECT_TRUE(quadratic_minimum({Penalty::trace, rho, 1.001 * equations, 0.0}, 0.0).exact);
    const QuadraticMinimum below =
        quadratic_minimum({Penalty::trace, rho, 0.99 * equations, 0.0}, 0.0);
    EXPECT_FALSE(below.exact);
    EXPECT_LT(below.delta, 0.05);
  }
}

TEST(TraceInterpolation, HasItsPublishedValueAndLimits) {
  // The published value has eight decimals and is rounded by at most this.
  constexpr double printed = 5e-9;
  // Both limits are approached like a power of the noise, which leaves less than this here.
  constexpr double next_order = 1e-3;
  EXPECT_NEAR(trace_interpolation(0.5, 0.25), 0.61392841, printed);
  EXPECT_NEAR(trace_interpolation(0.5, 1e8), 0.5, next_order);
  // s -> 0: (1 + 2 rho - rho^2)/2, approached like a root.
  EXPECT_NEAR(trace_interpolation(0.5, 1e-12), 0.875, next_order);
  // Plain least squares starts there: the response equals the equations.
  const double equations = trace_interpolation(0.5, 0.25);
  EXPECT_GT(quadratic_minimum({Penalty::trace, 0.5, 0.999 * equations, 0.25}, 0.0).threshold, 0.0);
  EXPECT_EQ(quadratic_minimum({Penalty::trace, 0.5, 1.001 * equations, 0.25}, 0.0).threshold, 0.0);
}

}  // namespace
}  // namespace onset::aim
