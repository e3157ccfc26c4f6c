#include "ssi/learners/ensemble.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace onset::ssi {
namespace {

TEST(SsiEnsemble, FirstPassagesAreAveragedOverTheRunsThatHaveOne) {
  const std::vector<SgdRun> runs{
      {.first_passage = 10}, {.first_passage = 0}, {.first_passage = 30}};
  EXPECT_EQ(count_reached(runs), 2);
  EXPECT_EQ(reached_fraction(runs).value, 2.0 / 3.0);
  EXPECT_EQ(mean_passage(runs)->value, 20.0);
  EXPECT_FALSE(mean_passage({{.first_passage = 0}}));
}

TEST(SsiEnsemble, TheErrorOfOneRunIsNotKnown) {
  EXPECT_EQ(mean_passage({{.first_passage = 10}})->value, 10.0);
  EXPECT_TRUE(std::isnan(mean_passage({{.first_passage = 10}})->error));
  EXPECT_TRUE(std::isnan(mean_size({{.m = -0.5}}, &SgdRun::m).error));
  EXPECT_EQ(mean_size({{.m = -0.5}, {.m = 0.25}}, &SgdRun::m).value, 0.375);
}

}  // namespace
}  // namespace onset::ssi
