#include "smi/learners/sample_loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "smi/learners/sgd.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

SgdModel linked(const char* text, double noise = 0.0) {
  return SgdModel(text, noise);
}

/// Where nothing is left to learn: the student has the teacher's weights, up to `scale`.
Overlaps learned(std::size_t directions, double scale) {
  Overlaps o{directions, std::vector<double>(directions * directions), {}, {}};
  o.cross = o.teacher = o.student;
  for (std::size_t p = 0; p < directions; ++p) {
    const std::size_t at = p * directions + p;
    o.student[at] = scale * scale;
    o.cross[at] = scale;
    o.teacher[at] = 1.0;
  }
  return o;
}

/// 16 replicates: eight errors have a probability below 1e-6.
constexpr double many_errors = 8.0;

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

// For y = z + noise e the limit of one pass is solved by hand: the cross overlap M has
// M' = -2 rate (M - 1), and the distance E = Q - 2M + 1 has
// E' = -4 rate (1 - rate) E + 4 rate^2 noise^2.
class LinearLink : public ::testing::TestWithParam<double> {};

TEST_P(LinearLink, FollowsItsClosedFormInOnePass) {
  const double noise = GetParam();
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
    const double decay = std::exp(-4.0 * o.rate * (1.0 - o.rate) * time);
    const double distance = (o.init * o.init - 2.0 * o.init * o.start_cosine + 1.0) * decay +
                            o.rate * noise * noise / (1.0 - o.rate) * (1.0 - decay);
    return cross / std::sqrt(distance + 2.0 * cross - 1.0);
  };
  const SgdModel model = linked("z1", noise);
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

INSTANTIATE_TEST_SUITE_P(SampleLoss, LinearLink, ::testing::Values(0.0, 0.8),
                         [](const auto& each) { return each.param > 0.0 ? "Noisy" : "Exact"; });

TEST(SampleLoss, StudentsPredictWithoutTheNoiseOfLabels) {
  // 2e1 and He2 are no noise fields.
  const SgdModel model = linked("relu(z1+e2)*2e1+He2(z2)+e1", 0.5);
  EXPECT_EQ(model.noise_size(), 3U);
  const auto loss = model.loss();
  const std::vector<double> fields{0.7, -1.2}, noise{0.3, 0.4, -2.0}, none(3, 0.0);
  std::vector<double> label(1), still(1), prediction(1), gradient(2);
  loss->label(fields, noise, label);
  loss->label(fields, none, still);
  loss->predict(fields, prediction);
  const double he2 = 1.2 * 1.2 - 1.0;
  EXPECT_NEAR(label[0], 1.1 * 20.0 + he2 + 0.3 - 0.5 * 2.0, tolerance::hundreds_of_roundings);
  EXPECT_NEAR(prediction[0], 0.7 * 20.0 + he2, tolerance::hundreds_of_roundings);
  EXPECT_EQ(prediction, still);
  // Gradients are those of the prediction.
  const double miss = prediction[0] - label[0];
  EXPECT_NEAR((*loss)(label, fields, gradient), miss * miss, tolerance::hundreds_of_roundings);
  EXPECT_NEAR(gradient[0], 2.0 * miss * 20.0, tolerance::hundreds_of_roundings * 400.0);
  EXPECT_EQ(linked("z1^2").noise_size(), 0U);
}

TEST(SampleLoss, NoiseAddsItsVarianceToLossesAndMoreWhereItIsNotAdded) {
  constexpr std::size_t points = 40'000;
  const auto added = [&](const char* text, double noise, double scale) {
    const SgdModel model = linked(text, noise);
    return model.noise_loss(learned(model.shape().directions(), scale), points, 1, 0);
  };
  EXPECT_EQ(added("z1*z2", 0.0, 1.0), 0.0);
  EXPECT_EQ(added("z1*z2+z3*z4", 0.5, 0.6), 0.25);
  EXPECT_EQ(added("z1, z2", 0.5, 1.0), 0.5);
  // A mean of squares of normals scatters by sqrt(2/points) times itself; six of these.
  const double chance = 6.0 * std::sqrt(2.0 / points);
  EXPECT_NEAR(added("z1*z2+0.5*e1", 0.0, 0.6), 0.25, chance * 0.25);
  EXPECT_NEAR(added("z1, z2+0.3*e1", 0.4, 1.0), 0.41, chance * 0.41);
  // That of (z+e)^2 from (s z)^2 is 7 + 2 (1 - s^2); its samples scatter by 18 to 21.
  const double far = 6.0 * 21.0 / std::sqrt(points);
  EXPECT_NEAR(added("(z1+e1)^2", 0.0, 1.0), 7.0, far);
  EXPECT_NEAR(added("(z1+e1)^2", 0.0, 0.6), 8.28, far);
}

TEST(SampleLoss, DirectionsThatOnlyNoiseMultipliesAreKnown) {
  using Directions = std::vector<std::size_t>;
  EXPECT_EQ(linked("z1+z2*e1").directions_of_noise(), Directions{1});
  EXPECT_EQ(linked("z1+z3*e1").directions_of_noise(), Directions{2});
  EXPECT_EQ(linked("z1+relu(z2-4)*(1+e1)").directions_of_noise(), Directions{});
  EXPECT_EQ(linked("z1+z2").directions_of_noise(), Directions{});
}

// The noise of steps adds terms of the order of the rate; at a rate of 1e-6 they are gone.
TEST(SampleLoss, AdditiveNoiseLeavesTheFlowOfSmallRatesAlone) {
  SgdOptions o;
  o.dimension = 10'000;
  o.batch = 1;
  o.rate = 1e-6;
  o.decay = 0.0;
  o.time = 2e6;
  o.records = 4;
  o.start_cosine = 0.2;
  constexpr double terms_of_noise = 1e-5;
  const auto exact = sgd_flow(linked("z1+z1*z2"), o, 512, {}).points;
  for (const SgdModel& model : {linked("z1+z1*z2", 0.5), linked("z1+z1*z2+0.5*e1")}) {
    const auto noisy = sgd_flow(model, o, 512, {}).points;
    ASSERT_EQ(noisy.size(), exact.size());
    for (std::size_t k = 0; k < exact.size(); ++k) {
      for (std::size_t l = 0; l < 2; ++l) {
        const Estimate &a = exact[k].cosine[l], &b = noisy[k].cosine[l];
        EXPECT_NEAR(a.value, b.value, many_errors * std::hypot(a.error, b.error) + terms_of_noise)
            << k;
      }
    }
    EXPECT_GT(exact.back().cosine[0].value, 0.9);
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

TEST(SampleLoss, RefusesPredictionsWithoutGradients) {
  const auto said = [](const char* text, double noise = 0.0) -> std::string {
    try {
      (void)linked(text, noise);
    } catch (const Refused& refusal) {
      return refusal.what();
    }
    return "";
  };
  EXPECT_THROW((void)linked("sign(z1)"), Refused);
  EXPECT_NO_THROW((void)linked("z1^2+sign(z1*z2*z3)"));
  EXPECT_NE(said("sign(z1)", 0.5).find("without noise"), std::string::npos);
  // Labels that have a density, or a mean that changes with the weights, are not enough.
  EXPECT_NE(said("sign(z1+0.3*e1)").find("without noise, which is what a student predicts"),
            std::string::npos);
  for (const char* text : {"z1*e1", "z1/e1", "z1, z2*e2"}) {
    const std::string why = said(text);
    EXPECT_NE(why.find("predicts labels with all noise fields at 0"), std::string::npos) << why;
    EXPECT_NE(why.find("smi amp"), std::string::npos) << why;
  }
}

}  // namespace
}  // namespace onset::smi
