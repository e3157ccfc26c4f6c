#include <gtest/gtest.h>

#include "mha/learners/crude/crude_projection.hpp"
#include "mha/learners/refine/large_margins.hpp"
#include "mha/learners/refine/minimum_norm_point.hpp"
#include "mha/learners/refine/trimmed_refinement.hpp"
#include "unit/mha/instances.hpp"
#include "unit/mha/learners/exact_body.hpp"

namespace onset::mha {
namespace {

/// A body of a relative thickness of 1e-3 is an affine hull up to some of that.
constexpr double of_a_thin_body = 0.01;

using testing::draw;
using testing::exact_body;
using testing::law_of;
using testing::sum_of_w;
using testing::theta_vector;
using testing::use_all;

TEST(MhaProxy, InnerProductsWithEveryHeadAreAtLeastItsSquaredNorm) {
  // The point of least norm of a convex body K: <theta, theta*> >= |theta*|^2 for theta in K, with
  // equality on an affine hull.
  auto drawn = draw(law_of(2, 6, 2, 2.0), 2000, 15);
  use_all(drawn);
  for (const double tolerance : {1e-3, 0.1, 0.5}) {
    const Body body = exact_body(drawn, tolerance);
    const Vector proxy = minimum_norm_point(body, 1.0, {});
    ASSERT_EQ(proxy.size(), 36);
    const Vector off = (body.normals * proxy - body.centre).cwiseAbs();
    EXPECT_LE(off.maxCoeff(), tolerance * (1.0 + 1e-6));
    for (int i = 0; i < 2; ++i) {
      EXPECT_GE(proxy.dot(theta_vector(drawn.truth, i)), proxy.squaredNorm() * (1.0 - 1e-6));
    }
    if (tolerance == 1e-3) {
      EXPECT_NEAR(proxy.dot(theta_vector(drawn.truth, 0)) / proxy.squaredNorm(), 1.0,
                  of_a_thin_body);
    }
  }
}

TEST(MhaTrimmed, OneHeadIsFoundToRounding) {
  auto drawn = draw(law_of(1, 8, 2, 2.0), 8000, 19);
  use_all(drawn);
  const Matrix crude = crude_projection(drawn.sample, {});
  const Matrix w = sum_of_w(drawn.truth);
  EXPECT_LT((crude - w).norm(), 0.2 * w.norm());
  const Projection refined = refine_trimmed(drawn.sample, crude, 0.05, {});
  EXPECT_LT((refined.w - w).norm(), 1e-12 * w.norm());
}

TEST(MhaMargins, LargeMarginsOfTheTruthShowTheSumOfProjections) {
  auto drawn = draw(law_of(2, 8, 2, 12.0), 20000, 20);
  use_all(drawn);
  const Vector middle = 0.5 * (theta_vector(drawn.truth, 0) + theta_vector(drawn.truth, 1));
  const Matrix w = sum_of_w(drawn.truth);
  EXPECT_LT((large_margin_projection(drawn.sample, middle, {}) - w).norm(), 0.01 * w.norm());
}

}  // namespace
}  // namespace onset::mha
