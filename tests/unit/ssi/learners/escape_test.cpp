#include "ssi/learners/escape.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "onset/core/error.hpp"
#include "support/ssi_models.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

/// For g = sum h_2 and sigma = relu, c_2 = sigma_2 = 1/(2 sqrt(pi)), and V is half of
/// E(y^2) + E(relu^2) = (L + 1/2)/2 over the half space where relu has a slope: with loss
/// |y-f|^2/2, V = (L + 1)/2.
TEST(SsiEscape, OfATiedReluOnDegreeTwoHasItsClosedForm) {
  const Escape escape = escape_of(testing::with_student("H2sum", 2, "tied"), {});
  EXPECT_EQ(escape.order, 2);
  EXPECT_EQ(escape.law, "d log d");
  EXPECT_NEAR(escape.coefficient, 0.5 / std::sqrt(M_PI), tolerance::magnified_roundings);
  // The sample has 16384 points, and |delta|^2 a standard deviation of some 4.
  constexpr double sampled = 4.9 * 4.0 / 128.0;
  EXPECT_NEAR(escape.variance, 1.5, sampled);
  EXPECT_NEAR(usual_rate(escape, 1e6, 0.5), 2.0 * escape.coefficient / escape.variance,
              tolerance::few_roundings);
}

/// The curvature along e of [ssi 11] for this target, -0.1477, is the only way out.
TEST(SsiEscape, WithAPositionalEncodingFollowsTheSteepestFall) {
  SequenceModel model;
  model.target = read_target("4/3+He4(z1)+2*He4(z2)", 2);
  model.student = make_student("attention", {.reduction = Reduction::trace_sqrt});
  model.positional = true;
  const Escape escape = escape_of(model, {});
  EXPECT_EQ(escape.order, 2);
  EXPECT_NEAR(escape.coefficient, 0.5 * 0.1476646130896, tolerance::magnified_roundings);
}

// Growth from 1/sqrt(d) to the level at the rate 2 c - eta V/2, and an e-fold more.
TEST(SsiEscape, OfDegreeTwoTakesTheLogarithmOfTheDimension) {
  const Escape square{.order = 2, .coefficient = 0.2, .variance = 1.0, .law = "d log d"};
  constexpr double dim = 1e4;
  constexpr double rate = 0.3;
  const double growth = 2.0 * 0.2 - 0.5 * rate;
  EXPECT_NEAR(typical_steps(square, dim, rate, 0.5) * rate / dim,
              (1.0 + std::log(0.5 * 100.0)) / growth, tolerance::hundreds_of_roundings);
  // Below the level's own size there is nothing to grow.
  EXPECT_NEAR(typical_steps(square, dim, rate, 1e-3) * rate / dim, 1.0 / growth,
              tolerance::hundreds_of_roundings);
}

TEST(SsiEscape, RatesFallWithTheDimensionAboveDegreeTwo) {
  const Escape cubic{.order = 3, .coefficient = 0.2, .variance = 1.0, .law = "d^2"};
  EXPECT_NEAR(usual_rate(cubic, 100, 0.5) / usual_rate(cubic, 400, 0.5), 2.0,
              tolerance::few_roundings);
  const double steps = typical_steps(cubic, 400, usual_rate(cubic, 400, 0.5), 0.5) /
                       typical_steps(cubic, 100, usual_rate(cubic, 100, 0.5), 0.5);
  EXPECT_NEAR(steps, 16.0, tolerance::dozens_of_roundings * 16.0);
}

TEST(SsiEscape, OfATargetThatIsNeverLearnedIsRefusedWithTheReason) {
  try {
    (void)escape_of(testing::with_student("z1-z2", 2, "tied"), {});
    FAIL();
  } catch (const Refused& refused) {
    EXPECT_NE(std::string(refused.what()).find("never learned"), std::string::npos);
  }
  EXPECT_THROW((void)escape_of(testing::with_student("H2sum", 2, "untied"), {}), Refused);
}

}  // namespace
}  // namespace onset::ssi
