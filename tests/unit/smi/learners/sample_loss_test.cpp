#include "smi/learners/sample_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "smi/learners/sgd.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

SgdModel linked(const char* text) {
  return SgdModel(std::make_shared<const TypedLink>(text, 0.0));
}

TEST(SampleLoss, GradientsOfLinksAreThoseOfTheLoss) {
  const SgdModel model = linked("z1_1*z2_2+exp(z1_2)-z2_1^3");
  const auto loss = model.loss();
  std::vector<double> fields(model.shape().fields()), gradient(fields.size()), none(fields.size());
  numerics::Stream(1, "sample loss test").normal(fields);
  const std::vector<double> target{0.3};
  const double value = (*loss)(target, fields, gradient);
  std::vector<double> y(1);
  loss->predict(fields, y);
  EXPECT_NEAR(value, (y[0] - 0.3) * (y[0] - 0.3), tolerance::few_roundings * value);
  constexpr double step = 1e-5;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    std::vector<double> up = fields, down = fields;
    up[f] += step;
    down[f] -= step;
    const double slope = ((*loss)(target, up, none) - (*loss)(target, down, none)) / (2.0 * step);
    // Third derivatives of the loss are of order a hundred.
    EXPECT_NEAR(gradient[f], slope, tolerance::coarse_difference_quotient) << f;
  }
}

// For y = z the limit of one pass is solved by hand: the cross overlap M has M' = -2 rate (M - 1),
// and the distance E = Q - 2M + 1 has E' = -4 rate (1 - rate) E.
TEST(SampleLoss, OnePassOfALinearLinkFollowsItsClosedForm) {
  SgdOptions o;
  o.dimension = 100'000;
  o.batch = 1;
  o.rate = 0.3;
  o.decay = 0.0;
  o.time = 2.0;
  o.records = 4;
  o.start_cosine = 0.2;
  const auto cosine = [&](double time) {
    const double cross = 1.0 - (1.0 - o.init * o.start_cosine) * std::exp(-2.0 * o.rate * time);
    const double distance = (o.init * o.init - 2.0 * o.init * o.start_cosine + 1.0) *
                            std::exp(-4.0 * o.rate * (1.0 - o.rate) * time);
    return cross / std::sqrt(distance + 2.0 * cross - 1.0);
  };
  // 16 replicates: eight errors have a probability below 1e-6.
  constexpr double many_errors = 8.0;
  const SgdModel model = linked("z1");
  for (const SgdFlowPoint& point : sgd_flow(model, o, 512, {}).points) {
    const Estimate& found = point.cosine.front();
    EXPECT_NEAR(found.value, cosine(point.time), many_errors * found.error + 1e-12) << point.time;
  }
  // A single run at D = 1e5 scatters by about 1/sqrt(D) = 0.003; six of these.
  constexpr double chance = 0.02;
  for (const SgdRecord& record : sgd_chain(model, o, 0, {}).records) {
    EXPECT_NEAR(record.cosine.front(), cosine(record.time), chance) << record.time;
  }
}

TEST(SampleLoss, SignsThatNoLabelShowsAreKnown) {
  EXPECT_EQ(linked("z1").signs().size(), 1U);
  EXPECT_EQ(linked("z1^2").signs().size(), 2U);
  EXPECT_EQ(linked("z1*z2").signs().size(), 2U);
  EXPECT_EQ(linked("z1^2+z2^4").signs().size(), 4U);
  EXPECT_EQ(SgdModel(DeepAttention{}).signs().size(), 4U);
}

TEST(SampleLoss, DirectionsThatLabelsChangeWithByJumpsAloneAreKnown) {
  using Directions = std::vector<std::size_t>;
  EXPECT_EQ(linked("sign(z1)*z2").directions_without_gradient(), Directions{0});
  EXPECT_EQ(linked("z1^2+sign(z1*z2*z3)").directions_without_gradient(), (Directions{1, 2}));
  // Slopes that are rare are slopes.
  EXPECT_EQ(linked("z1+relu(z2-4)").directions_without_gradient(), Directions{});
  EXPECT_EQ(linked("z1*step(z2), z2*sign(z1+z3)").directions_without_gradient(), Directions{2});
  EXPECT_EQ(linked("z1*z3").directions_without_gradient(), Directions{});
  EXPECT_EQ(linked("z1*z3").directions_not_named(), Directions{1});
  EXPECT_EQ(SgdModel(DeepAttention{}).directions_without_gradient(), Directions{});
}

TEST(SampleLoss, RefusesNoiseAndLabelsWithoutGradients) {
  EXPECT_THROW((void)linked("z1+0.5*e1"), Refused);
  EXPECT_THROW((void)linked("sign(z1)"), Refused);
  EXPECT_NO_THROW((void)linked("z1^2+sign(z1*z2*z3)"));
}

}  // namespace
}  // namespace onset::smi
