#include "numerics/linear_algebra/interior_point.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/random/stream.hpp"
#include "support/complaint.hpp"
#include "support/contexts.hpp"
#include "unit/numerics/linear_algebra/textbook_program.hpp"

namespace onset::numerics {
namespace {

/// What the method promises for an objective, with a margin of ten.
constexpr double of_the_objective = 1e-8;

using testing::textbook;

/// A random direction over the slabs |row . x - centre| <= 1 and a box.
LinearProgram random_slabs(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  LinearProgram program;
  program.cost.resize(columns);
  program.matrix.resize(rows * columns);
  std::vector<double> centre(rows);
  Stream stream(seed, "test slabs", 0);
  stream.normal(program.cost);
  stream.normal(program.matrix);
  stream.normal(centre);
  program.lower.assign(columns, -10.0);
  program.upper.assign(columns, 10.0);
  for (const double b : centre) {
    program.row_lower.push_back(0.1 * b - 1.0);
    program.row_upper.push_back(0.1 * b + 1.0);
  }
  return program;
}

TEST(InteriorPoint, FindsTheOptimumAndItsProof) {
  const LinearSolution solution = solve_inside(textbook(), {});
  ASSERT_TRUE(solution.optimal);
  EXPECT_NEAR(solution.objective, -36.0, 36.0 * of_the_objective);
  EXPECT_NEAR(solution.x[0], 2.0, 36.0 * of_the_objective);
  EXPECT_NEAR(solution.x[1], 6.0, 36.0 * of_the_objective);
  const std::vector<double>& m = solution.multipliers;
  EXPECT_NEAR(4 * m[0] + 12 * m[1] + 18 * m[2], -36.0, 36.0 * of_the_objective);
}

TEST(InteriorPoint, AgreesWithTheSimplexMethod) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const LinearProgram program = random_slabs(90, 30, seed);
    const LinearSolution inside = solve_inside(program, {});
    const LinearSolution corner = solve(program, Simplex::dual, {});
    ASSERT_TRUE(inside.optimal && corner.optimal) << seed;
    EXPECT_NEAR(inside.objective, corner.objective, of_the_objective * std::abs(corner.objective));
    for (std::size_t c = 0; c < corner.x.size(); ++c) {
      // The optimum is a corner, of whose place the objective says less than of itself.
      EXPECT_NEAR(inside.x[c], corner.x[c], 100.0 * of_the_objective) << seed;
    }
  }
}

TEST(InteriorPoint, DoesNotCallAProgramWithoutPointsOptimal) {
  LinearProgram program = textbook();
  program.row_lower[0] = 3.0;
  program.row_upper[2] = 5.0;
  EXPECT_FALSE(solve_inside(program, {}).optimal);
}

TEST(InteriorPoint, HasTheSameBitsForAnyNumberOfThreads) {
  const LinearProgram program = random_slabs(500, 150, 3);
  const LinearSolution one = solve_inside(program, testing::with_threads(1));
  const LinearSolution three = solve_inside(program, testing::with_threads(3));
  ASSERT_TRUE(one.optimal);
  EXPECT_EQ(one.x, three.x);
}

TEST(InteriorPoint, SizesMustFitAndRequestsToStopAreHeard) {
  LinearProgram program = textbook();
  program.row_upper.pop_back();
  EXPECT_EQ(testing::wrong_field([&] { (void)solve_inside(program, {}); }), "program");
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  EXPECT_THROW((void)solve_inside(textbook(), context), Interrupted);
}

}  // namespace
}  // namespace onset::numerics
