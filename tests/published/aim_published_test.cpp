// Curves of Boncoraglio, Troiani, Erba and Zdeborova (2025) on attention-indexed models, from the
// data published with them, typed in here as facts. Where they and we differ, the test says so.

#include <gtest/gtest.h>

#include "aim/limits/curve.hpp"

namespace onset::aim {
namespace {

/// Their iteration stops at some 1e-4, and at more towards the ends of the curves.
constexpr double of_their_softmax = 2e-4;
/// Their integrals are sampled, which scatters by some 1e-3.
constexpr double of_their_hardmax = 3e-3;

struct PublishedPoint {
  double rho;
  double alpha;
  double mmse;
};

double mmse_of(AttentionIndexed model, const PublishedPoint& point) {
  model.rho = point.rho;
  return StateEvolution(model, 1, {}).at(point.alpha).mmse.value;
}

/// Their iteration stops at some 1e-4, and at more towards the ends of the curves.
TEST(AimPublished, SoftmaxCurvesAgree) {
  for (const PublishedPoint& point :
       {PublishedPoint{0.5, 0.047066313725490194, 0.7430679426311062},
        PublishedPoint{0.5, 0.09412262745098038, 0.42928086043730773},
        PublishedPoint{0.5, 0.1411789411764706, 0.16697687710104958},
        PublishedPoint{2.0, 0.06275258823529412, 0.7243346484565674},
        PublishedPoint{2.0, 0.18823776470588238, 0.18027226049436607}}) {
    EXPECT_NEAR(mmse_of({}, point), point.mmse, of_their_softmax) << point.alpha;
  }
}

/// Their integrals are sampled, which scatters by some 1e-3. The output function is not the
/// derivative of log Z [aim 31], so that the least possible error is well below theirs.
TEST(AimPublished, HardmaxCurvesAreReproducedWithTheirOutputFunctionAndAreNotTheLeastError) {
  AttentionIndexed theirs;
  theirs.channel = &hardmax_channel();
  theirs.published.density = true;
  AttentionIndexed exact = theirs;
  exact.published.density = false;
  for (const PublishedPoint& point :
       {PublishedPoint{0.5, 0.04825709531723901, 0.9342128419059325},
        PublishedPoint{0.5, 0.34168858483163805, 0.5928915347076302}}) {
    EXPECT_NEAR(mmse_of(theirs, point), point.mmse, of_their_hardmax) << point.alpha;
    EXPECT_LT(mmse_of(exact, point), point.mmse - 0.02) << point.alpha;
  }
}

}  // namespace
}  // namespace onset::aim
