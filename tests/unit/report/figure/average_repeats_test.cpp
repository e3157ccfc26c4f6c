#include "report/figure/average_repeats.hpp"

#include <gtest/gtest.h>

#include "onset/numerics/replicates.hpp"

namespace onset::report {
namespace {

Table runs() {
  Table table({{"width", "", "", false},
               {"seed", "", "", false},
               {"alpha", "", "", false},
               {"q", "", "", true},
               {"iterations", "", "", false}});
  const auto add = [&](std::int64_t width, std::int64_t seed, double q, std::int64_t iterations) {
    table.add_row({width, seed, 0.5, Estimate{q, 0.01}, iterations});
  };
  add(1, 1, 2.0, 7);
  add(1, 2, 4.0, 7);
  add(2, 1, 5.0, 8);
  add(2, 2, 6.0, 9);
  add(3, 1, 1.0, 1);
  return table;
}

TEST(AverageRepeats, RowsThatDifferInTheirSeedBecomeOne) {
  const Table averaged = average_repeats(runs(), {"width"}, {"seed"});
  ASSERT_EQ(averaged.rows().size(), 3U);
  const Estimate expected = numerics::mean_over_runs(std::vector{2.0, 4.0});
  EXPECT_EQ(averaged.number(0, "q"), 3.0);
  EXPECT_EQ(averaged.error(0, "q"), expected.error);
  EXPECT_THROW((void)averaged.column("seed"), std::exception);
}

TEST(AverageRepeats, WhatDiffersWithoutErrorsHasNoValue) {
  const Table averaged = average_repeats(runs(), {"width"}, {"seed"});
  EXPECT_EQ(std::get<std::int64_t>(averaged.at(0, "iterations")), 7);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(averaged.at(1, "iterations")));
}

TEST(AverageRepeats, ASingleSeedKeepsItsError) {
  EXPECT_EQ(average_repeats(runs(), {"width"}, {"seed"}).error(2, "q"), 0.01);
}

}  // namespace
}  // namespace onset::report
