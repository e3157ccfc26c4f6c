#include "aim/limits/flow/risk.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "unit/aim/limits/flow/flow_models.hpp"

namespace onset::aim {
namespace {

struct Tabulated {
  const Channel* channel;
  TrainingLoss loss;
  int tokens;
  double symmetric, teacher, risk;
};

/// Computed by another program (NumPy, other rules), rho = 1/2, beta = 1, p = 0.7, q = 0.6.
const std::vector<Tabulated> table{
    {&softmax_channel(), TrainingLoss::squared, 2, 0.365603824876, 0.331640243950, 0.156592330064},
    {&softmax_channel(), TrainingLoss::squared, 3, 0.583631693179, 0.520444222992, 0.254063019639},
    {&softmax_channel(), TrainingLoss::squared, 4, 0.740687483799, 0.654448834315, 0.327905731194},
    {&softmax_channel(), TrainingLoss::cross_entropy, 2, 1.077528913193, 0.876351577973,
     1.297570726043},
    {&softmax_channel(), TrainingLoss::cross_entropy, 3, 2.092046214836, 1.753172556291,
     3.063695997506},
    {&softmax_channel(), TrainingLoss::cross_entropy, 4, 3.101225442423, 2.653525132719,
     5.142264517696},
    {&hardmax_channel(), TrainingLoss::cross_entropy, 2, 1.077528913193, 1.128379167096,
     1.146354172570},
    {&hardmax_channel(), TrainingLoss::cross_entropy, 3, 2.092046214836, 2.383557049586,
     2.685465301529},
    {&hardmax_channel(), TrainingLoss::cross_entropy, 4, 3.101225442423, 3.747728730875,
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
  const auto v = [](const Channel& channel, TrainingLoss loss) {
    const FlowModel model = flow_model(channel, loss, 2);
    return make_risk(model, Precision::fine, 1)->noise(score_moments(model, 0.7, 0.6)).symmetric;
  };
  EXPECT_NEAR(v(softmax_channel(), TrainingLoss::squared), 0.039943117357, 1e-12);
  EXPECT_NEAR(v(softmax_channel(), TrainingLoss::cross_entropy), 0.258255987798, 1e-12);
  EXPECT_NEAR(v(hardmax_channel(), TrainingLoss::cross_entropy), 0.622219517, 1e-9);
}

}  // namespace
}  // namespace onset::aim
