#include "mha/learners/phase_errors.hpp"

#include <gtest/gtest.h>

#include "support/tolerances.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha {
namespace {

using testing::law_of;

TEST(MhaPhaseErrors, WhoKnowsTheTruthMakesNone) {
  const Layer truth = draw_layer(law_of(2, 5, 2, 2.0), 1);
  Learned learned;
  learned.knowledge.crude_w = flat(testing::sum_of_w(truth));
  learned.layer = learned.geometry = truth;
  const Vector apart = testing::theta_vector(truth, 1) - testing::theta_vector(truth, 0);
  learned.knowledge.hull_base.assign(truth.theta_of(0).begin(), truth.theta_of(0).end());
  const Vector direction = apart.normalized();
  learned.knowledge.hull_directions.assign(direction.begin(), direction.end());
  EXPECT_LT(errors_after({1, "crude"}, learned, truth).projection.value(), 1e-14);
  EXPECT_LT(errors_after({4, "affine hull"}, learned, truth).hull.value(), 1e-14);
  const PhaseErrors polished = errors_after({6, "polish"}, learned, truth);
  EXPECT_EQ(polished.theta.value(), 0.0);
  EXPECT_EQ(polished.w.value(), 0.0);
}

TEST(MhaPhaseErrors, ASumThatCancelsHasNoRelativeError) {
  InstanceLaw law = law_of(2, 5, 2, 2.0);
  law.degeneracy = Degeneracy::cancelling;
  const Layer truth = draw_layer(law, 1);
  Learned learned;
  learned.knowledge.crude_w.assign(25, 0.1);
  EXPECT_FALSE(errors_after({1, "crude"}, learned, truth).projection);
}

TEST(MhaPhaseErrors, TheHullOfTwoHeadsAndTokensSharpensAsOneOverN) {
  const InstanceLaw law = law_of(2, 8, 2, 3.0);
  EXPECT_NEAR(predicted_hull_error(law, 1e4).value(), 10.0 * predicted_hull_error(law, 1e5).value(),
              tolerance::thousands_of_roundings);
  EXPECT_FALSE(predicted_hull_error(law_of(1, 8, 2, 3.0), 1e4));
}

}  // namespace
}  // namespace onset::mha
