#include <gtest/gtest.h>

#include <cmath>

#include "mha/learners/hull/affine_hull.hpp"
#include "mha/learners/hull/support_check.hpp"
#include "unit/mha/instances.hpp"
#include "unit/mha/learners/exact_body.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::exact_body;
using testing::law_of;
using testing::theta_vector;
using testing::use_all;

TEST(MhaHull, IsExactWhereSlabsAre) {
  auto drawn = draw(law_of(2, 6, 2, 2.0), 2000, 17);
  use_all(drawn);
  const Spectrum spectrum(exact_body(drawn, 1e-9));
  EXPECT_EQ(spectrum.heads(), 2);
  EXPECT_GT(spectrum.gap(2), 1e6);
  const Hull hull = spectrum.hull(2);
  for (int i = 0; i < 2; ++i) EXPECT_LT(distance(hull, theta_vector(drawn.truth, i)), 1e-9);
  EXPECT_LT(std::abs((hull.directions * hull.base)[0]), 1e-9);
}

TEST(MhaHull, SupportProgramsSeeTheNeedle) {
  auto drawn = draw(law_of(2, 6, 2, 2.0), 2000, 18);
  use_all(drawn);
  const Body body = exact_body(drawn, 1e-3);
  const SupportCheck check = check_support(body, 1.0, Spectrum(body).hull(2), {});
  ASSERT_TRUE(check.solved);
  EXPECT_GT(check.along, 100.0 * check.across);
  EXPECT_LT(check.sine, 0.01);
}

}  // namespace
}  // namespace onset::mha
