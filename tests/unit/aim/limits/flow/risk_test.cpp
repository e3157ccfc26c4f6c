#include "aim/limits/flow/risk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aim/limits/flow/risk/sampled_noise.hpp"
#include "aim/model/training_loss.hpp"
#include "numerics/random/stream.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/limits/flow/flow_models.hpp"
#include "unit/aim/limits/flow/random_models.hpp"

namespace onset::aim {
namespace {

struct Tabulated {
  const Channel* channel;
  SgdLoss loss;
  int tokens;
  double symmetric, teacher, risk;
};

/// Computed by another program (NumPy, other rules), rho = 1/2, beta = 1, p = 0.7, q = 0.6.
const std::vector<Tabulated> table{
    {&softmax_channel(), SgdLoss::squared, 2, 0.365603824876, 0.331640243950, 0.156592330064},
    {&softmax_channel(), SgdLoss::squared, 3, 0.583631693179, 0.520444222992, 0.254063019639},
    {&softmax_channel(), SgdLoss::squared, 4, 0.740687483799, 0.654448834315, 0.327905731194},
    {&softmax_channel(), SgdLoss::cross_entropy, 2, 1.077528913193, 0.876351577973, 1.297570726043},
    {&softmax_channel(), SgdLoss::cross_entropy, 3, 2.092046214836, 1.753172556291, 3.063695997506},
    {&softmax_channel(), SgdLoss::cross_entropy, 4, 3.101225442423, 2.653525132719, 5.142264517696},
    {&hardmax_channel(), SgdLoss::cross_entropy, 2, 1.077528913193, 1.128379167096, 1.146354172570},
    {&hardmax_channel(), SgdLoss::cross_entropy, 3, 2.092046214836, 2.383557049586, 2.685465301529},
    {&hardmax_channel(), SgdLoss::cross_entropy, 4, 3.101225442423, 3.747728730875,
     4.485742358802}};

TEST(AimFlowRisk, AgreesWithAnotherProgramToItsLastDigit) {
  constexpr double last_digit = 1.01e-12;  // of the table, which is rounded to 12 places
  constexpr double coarse_rule = 1e-7;     // what the coarse rule promises
  for (const Tabulated& row : table) {
    const FlowModel model = flow_model(*row.channel, row.loss, row.tokens);
    const Drift fine = make_risk(model, Precision::fine, 1)->drift(score_moments(model, 0.7, 0.6));
    EXPECT_NEAR(fine.symmetric, row.symmetric, last_digit) << row.tokens;
    EXPECT_NEAR(fine.teacher, row.teacher, last_digit) << row.tokens;
    EXPECT_NEAR(fine.risk, row.risk, last_digit) << row.tokens;
    const Drift coarse =
        make_risk(model, Precision::coarse, 1)->drift(score_moments(model, 0.7, 0.6));
    EXPECT_NEAR(coarse.symmetric, row.symmetric, coarse_rule) << row.tokens;
    EXPECT_NEAR(coarse.teacher, row.teacher, coarse_rule) << row.tokens;
    EXPECT_NEAR(coarse.risk, row.risk, coarse_rule) << row.tokens;
  }
}

TEST(AimFlowRisk, NoiseOfTwoTokensAgreesWithAnotherProgram) {
  const auto v = [](const Channel& channel, SgdLoss loss) {
    const FlowModel model = flow_model(channel, loss, 2);
    return make_risk(model, Precision::fine, 1)->noise(score_moments(model, 0.7, 0.6)).symmetric;
  };
  // The other program printed twelve decimals, and this is a unit of the last.
  constexpr double twelfth_digit = 1e-12;
  // Of hardmax it printed nine decimals, and this is a unit of the last.
  constexpr double ninth_digit = 1e-9;
  EXPECT_NEAR(v(softmax_channel(), SgdLoss::squared), 0.039943117357, twelfth_digit);
  EXPECT_NEAR(v(softmax_channel(), SgdLoss::cross_entropy), 0.258255987798, twelfth_digit);
  EXPECT_NEAR(v(hardmax_channel(), SgdLoss::cross_entropy), 0.622219517, ninth_digit);
}

TEST(AimFlowRisk, TeacherIsAFixedPointWithTheTabulatedDrift) {
  const std::vector<double> ratios{0.2, 0.5, 1.0, 2.0};
  const std::vector<double> squared{0.3625057766, 0.3327100533, 0.2961521872, 0.2490079362};
  const std::vector<double> entropy{0.9371867517, 0.8763515780, 0.7975676842, 0.6890274286};
  // The tables have ten decimals, and this is a unit of the last.
  constexpr double tenth_digit = 1e-10;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    for (const SgdLoss loss : {SgdLoss::squared, SgdLoss::cross_entropy}) {
      const FlowModel model = flow_model(softmax_channel(), loss, 2, ratios[i]);
      const double norm = model.teacher_norm();
      const Drift drift = make_risk(model, Precision::fine, 1)->drift({norm, 0.0, norm, 0.0});
      const double expected = loss == SgdLoss::squared ? squared[i] : entropy[i];
      EXPECT_NEAR(drift.symmetric, expected, tenth_digit);
      EXPECT_NEAR(drift.teacher, expected, tenth_digit);
    }
  }
}

/// A = 2 dR/dp and B = -dR/dq, for every kind of risk.
TEST(AimFlowRisk, DriftIsTheGradientOfTheRisk) {
  constexpr double step = 1e-3;
  constexpr double stencil_error = 1e-8;  // of fourth order
  numerics::Stream stream(1, "test risks");
  for (const Tabulated& row : table) {
    const FlowModel model =
        flow_model(*row.channel, row.loss, row.tokens, random_between(stream, 0.2, 2.0),
                   random_between(stream, 0.5, 1.5));
    const auto risk = make_risk(model, Precision::fine, 1);
    const double p = random_between(stream, 0.3, 3.0);
    const double q = 0.8 * stream.uniform() * std::sqrt(p * model.teacher_norm());
    const auto at = [&](double dp, double dq) {
      return risk->drift(score_moments(model, p + dp, q + dq)).risk;
    };
    const auto slope = [&](double dp, double dq) {
      return (8.0 * (at(dp, dq) - at(-dp, -dq)) - (at(2 * dp, 2 * dq) - at(-2 * dp, -2 * dq))) /
             (12.0 * step);
    };
    const Drift drift = risk->drift(score_moments(model, p, q));
    EXPECT_NEAR(drift.symmetric, 2.0 * slope(step, 0.0), stencil_error);
    EXPECT_NEAR(drift.teacher, -slope(0.0, step), stencil_error);
  }
}

/// Draws scores of two tokens with these moments, and measures what risk and noise say.
struct Measured {
  std::vector<double> risk, symmetric, antisymmetric;
};

Measured measure(const FlowModel& model, const ScoreMoments& m, int samples) {
  numerics::Stream stream(7, "test scores");
  Measured out;
  const double norm = model.teacher_norm();
  const double shared = m.q / std::sqrt(norm);
  const double own = std::sqrt(m.p - m.q * m.q / norm);
  std::vector<double> teacher(4), student(4), slope(4);
  for (int i = 0; i < samples; ++i) {
    for (const std::size_t place : {0u, 3u, 1u}) {
      const double size = place == 1 ? 1.0 : std::sqrt(2.0);
      const double z = stream.normal();
      teacher[place] = size * std::sqrt(norm) * z;
      student[place] = size * (shared * z + own * stream.normal());
    }
    const double odd = std::sqrt(m.anti) * stream.normal();
    teacher[2] = teacher[1];
    student[2] = student[1] - odd;
    student[1] += odd;
    out.risk.push_back(training_loss(model.labels, model.loss, teacher, student, slope));
    const double even_slope = 0.5 * (slope[1] + slope[2]);
    const double odd_slope = 0.5 * (slope[1] - slope[2]);
    out.symmetric.push_back(slope[0] * slope[0] + slope[3] * slope[3] +
                            2.0 * even_slope * even_slope);
    out.antisymmetric.push_back(2.0 * odd_slope * odd_slope);
  }
  return out;
}

/// Five standard errors: a false alarm of 6e-7 for each of 24 numbers, at a fixed seed.
void expect_mean(const std::vector<double>& samples, double expected) {
  const Estimate mean = numerics::mean_over_runs(samples);
  EXPECT_NEAR(mean.value, expected, 5.0 * mean.error);
}

TEST(AimFlowRisk, RiskAndNoiseAreThoseOfDrawnScores) {
  for (const Tabulated& row : table) {
    if (row.tokens != 2) continue;
    const FlowModel model = flow_model(*row.channel, row.loss, 2, 0.5, 1.3);
    const auto risk = make_risk(model, Precision::fine, 1);
    for (const double anti : {0.0, 0.4}) {
      const ScoreMoments moments = score_moments(model, 0.7, 0.6, anti);
      const Measured found = measure(model, moments, 200000);
      expect_mean(found.risk, risk->drift(moments).risk);
      expect_mean(found.symmetric, risk->noise(moments).symmetric);
      expect_mean(found.antisymmetric, risk->noise(moments).antisymmetric);
    }
  }
}

/// The noise of three tokens and more is sampled; for two the sampled rule meets the exact one.
TEST(AimFlowRisk, SampledNoiseOfTwoTokensIsTheExactOne) {
  for (const SgdLoss loss : {SgdLoss::squared, SgdLoss::cross_entropy}) {
    const FlowModel model = flow_model(softmax_channel(), loss, 2);
    const ScoreMoments moments = score_moments(model, 0.7, 0.6);
    const double exact = make_risk(model, Precision::fine, 1)->noise(moments).symmetric;
    const SampledNoise sampled(model, Precision::fine, 1);
    // Student's t of 15 degrees of freedom beyond 8 has odds of 1e-6.
    const Estimate found = sampled.estimate(moments);
    EXPECT_NEAR(found.value, exact, 8.0 * found.error);
    EXPECT_LT(found.error, 0.01 * exact);
    const double growth = make_risk(model, Precision::fine, 1)->noise_growth().symmetric;
    constexpr double sampling = 0.05;  // several times the scatter above
    EXPECT_NEAR(sampled.growth().symmetric, growth, sampling * growth);
  }
}

TEST(AimFlowRisk, NoiseIsFiniteForAStudentThatHasLearnedNothing) {
  for (const SgdLoss loss : {SgdLoss::squared, SgdLoss::cross_entropy}) {
    const FlowModel model = flow_model(softmax_channel(), loss, 2);
    const auto risk = make_risk(model, Precision::fine, 1);
    const double nothing = risk->noise(score_moments(model, 0.0, 0.0)).symmetric;
    EXPECT_GT(nothing, 0.0);
    for (const double anti : {1e-300, 1e-20, 1e-15}) {
      const GradientNoise noise = risk->noise(score_moments(model, 0.0, 0.0, anti));
      // The antisymmetric part is so small that it changes no more than the rounding.
      EXPECT_NEAR(noise.symmetric, nothing, tolerance::thousands_of_roundings);
      EXPECT_TRUE(std::isfinite(noise.antisymmetric));
    }
  }
}

/// v = growth mse next to the teacher, for symmetric and antisymmetric errors.
TEST(AimFlowRisk, NoiseGrowsWithTheErrorNextToTheTeacher) {
  constexpr double small = 1e-7;
  constexpr double next_order = 1e-5;
  for (const SgdLoss loss : {SgdLoss::squared, SgdLoss::cross_entropy}) {
    const FlowModel model = flow_model(softmax_channel(), loss, 2, 0.7, 1.2);
    const auto risk = make_risk(model, Precision::fine, 1);
    const Risk::NoiseGrowth growth = risk->noise_growth();
    const double norm = model.teacher_norm();
    const GradientNoise even = risk->noise({norm + small, 0.0, norm, small});
    EXPECT_NEAR(even.symmetric / small, growth.symmetric, next_order * growth.symmetric);
    EXPECT_NEAR(even.antisymmetric / small, growth.mixed, next_order * growth.mixed);
    const GradientNoise odd = risk->noise({norm, small, norm, 0.0});
    EXPECT_NEAR(odd.symmetric / small, growth.mixed, next_order * growth.mixed);
    EXPECT_NEAR(odd.antisymmetric / small, growth.antisymmetric, next_order * growth.antisymmetric);
  }
}

}  // namespace
}  // namespace onset::aim
