#include "numerics/linear_algebra/linear_program.hpp"

#include <gtest/gtest.h>

#include "support/complaint.hpp"
#include "unit/numerics/linear_algebra/textbook_program.hpp"

namespace onset::numerics {
namespace {

/// The tolerance to which the linear program satisfies its constraints.
constexpr double of_the_simplex = 1e-9;

using testing::textbook;

TEST(LinearProgram, FindsTheOptimumAndItsProofByBothMethods) {
  for (const Simplex method : {Simplex::primal, Simplex::dual}) {
    const LinearSolution solution = solve(textbook(), method, {});
    ASSERT_TRUE(solution.optimal);
    EXPECT_NEAR(solution.objective, -36.0, of_the_simplex);
    EXPECT_NEAR(solution.x[0], 2.0, of_the_simplex);
    EXPECT_NEAR(solution.x[1], 6.0, of_the_simplex);
    const std::vector<double>& m = solution.multipliers;
    EXPECT_NEAR(4 * m[0] + 12 * m[1] + 18 * m[2], -36.0, of_the_simplex);
    EXPECT_NEAR(m[0] + 3 * m[2], -3.0, of_the_simplex);
    EXPECT_NEAR(2 * m[1] + 2 * m[2], -5.0, of_the_simplex);
  }
}

TEST(LinearProgram, SaysWhenThereIsNoPoint) {
  LinearProgram program = textbook();
  program.row_lower[0] = 3.0;
  program.row_upper[2] = 5.0;
  const LinearSolution solution = solve(program, Simplex::dual, {});
  EXPECT_FALSE(solution.optimal);
  EXPECT_TRUE(solution.infeasible);
}

TEST(LinearProgram, SizesMustFit) {
  LinearProgram program = textbook();
  program.row_upper.pop_back();
  EXPECT_EQ(testing::wrong_field([&] { (void)solve(program, Simplex::dual, {}); }), "program");
}

TEST(LinearProgram, StopsOnRequest) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  EXPECT_THROW((void)solve(textbook(), Simplex::dual, context), Interrupted);
}

}  // namespace
}  // namespace onset::numerics
