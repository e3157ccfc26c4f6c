#include "aim/limits/erm/training.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "aim/limits/curve.hpp"
#include "aim/limits/erm/recovery.hpp"
#include "aim/limits/erm/shrunk_spectrum.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

AttentionIndexed model_of(const Channel& channel, int tokens, double rho, double noise) {
  AttentionIndexed model;
  model.channel = &channel;
  model.tokens = tokens;
  model.rho = rho;
  model.noise_variance = noise;
  return model;
}

TrainedPoint solve(const AttentionIndexed& model, TrainingLoss loss, Penalty penalty, double alpha,
                   double decay) {
  Conjugates start{};
  return Training(model, loss, penalty, 1).at(alpha, decay, start, {});
}

/// At most so many errors from what an independent program printed, with its own last digit.
void expect_near(const Estimate& found, double printed, double digit) {
  EXPECT_NEAR(found.value, printed, digit + 4.0 * found.error);
}

TEST(Training, LinearLabelsHaveTheValuesOfAnIndependentProgram) {
  const TrainedPoint p = solve(model_of(linear_channel(), 2, 0.5, 0.1), TrainingLoss::square,
                               Penalty::trace, 0.1, 0.05);
  expect_near(p.norm, 1.392713726, 5e-10);
  expect_near(p.overlap, 1.251845185, 5e-10);
  expect_near(*p.mse, 0.3890233561, 5e-11);
  expect_near(p.train, 0.0253982066, 5e-11);
  expect_near(p.objective, 0.0363301983, 5e-11);
  expect_near(p.trace, 0.6758076, 5e-8);
  EXPECT_EQ(p.validity, Validity::exact);
  EXPECT_LT(p.replicon->value, 1.0);
  const TrainedPoint nuclear = solve(model_of(linear_channel(), 2, 0.3, 0.1), TrainingLoss::square,
                                     Penalty::nuclear, 0.12, 0.1);
  expect_near(nuclear.objective, 0.0659921946, 5e-11);
  expect_near(nuclear.penalty, 0.5964317, 5e-8);
  const TrainedPoint ridge = solve(model_of(linear_channel(), 2, 0.3, 0.1), TrainingLoss::square,
                                   Penalty::ridge, 0.12, 0.1);
  expect_near(ridge.norm, 0.729062251, 5e-10);
  expect_near(ridge.overlap, 0.755578662, 5e-10);
  expect_near(ridge.train, 0.137751713, 5e-10);
  expect_near(ridge.objective, 0.0894364307, 5e-11);
  EXPECT_FALSE(ridge.rank);
}

TEST(Training, FieldsOfSoftmaxLabelsAreLinearLabelsOfAsManyDirections) {
  const TrainedPoint fields = solve(model_of(softmax_channel(), 2, 0.5, 0.1), TrainingLoss::fields,
                                    Penalty::trace, 0.15, 0.05);
  const TrainedPoint linear = solve(model_of(linear_channel(), 2, 0.5, 0.1), TrainingLoss::square,
                                    Penalty::trace, 0.1, 0.05);
  EXPECT_DOUBLE_EQ(fields.mse->value, linear.mse->value);
  EXPECT_DOUBLE_EQ(fields.objective.value, linear.objective.value);
}

TEST(Training, SoftmaxWithSquaredErrorsHasTheValuesOfAnIndependentProgram) {
  const TrainedPoint a = solve(model_of(softmax_channel(), 2, 0.5, 0.25), TrainingLoss::square,
                               Penalty::trace, 0.1, 0.01);
  expect_near(a.delta, 3.063545, 5e-6);
  expect_near(*a.threshold, 1.530597, 5e-6);
  expect_near(a.norm, 0.6369805, 1e-6);
  expect_near(a.overlap, 0.6601700, 1e-6);
  expect_near(*a.chi, 18.93148, 5e-5);
  expect_near(*a.mse, 0.8166405, 1e-6);
  expect_near(a.train, 0.00650954, 1e-7);
  expect_near(a.objective, 0.004578667, 1e-8);
  expect_near(*a.rank, 0.353118, 2e-6);
  expect_near(a.test, 0.2982565, 1e-6);
  EXPECT_LT(a.mse->error, 1e-5);
  EXPECT_EQ(a.validity, Validity::stable);
  const TrainedPoint b = solve(model_of(softmax_channel(), 2, 0.5, 0.0), TrainingLoss::square,
                               Penalty::trace, 0.4, 0.02);
  expect_near(*b.mse, 0.06887995, 1e-7);
  expect_near(b.train, 0.00310112, 1e-8);
  expect_near(b.test, 0.0111276, 5e-8);
  const TrainedPoint ridge = solve(model_of(softmax_channel(), 2, 0.3, 0.1), TrainingLoss::square,
                                   Penalty::ridge, 0.2, 0.005);
  expect_near(*ridge.mse, 0.5266216, 5e-7);
  expect_near(ridge.objective, 0.00384049, 1e-8);
}

TEST(Training, CrossEntropyHasTheValuesOfAnIndependentProgram) {
  const TrainedPoint a = solve(model_of(softmax_channel(), 2, 0.5, 0.1),
                               TrainingLoss::cross_entropy, Penalty::trace, 0.2, 0.03);
  expect_near(*a.mse, 0.3286655, 5e-8);
  expect_near(a.train, 0.8985832, 5e-8);
  expect_near(a.objective, 0.1942629, 5e-8);
  expect_near(a.test, 0.1171512, 5e-8);
  EXPECT_EQ(a.validity, Validity::exact);
  const TrainedPoint hard = solve(model_of(hardmax_channel(), 2, 0.5, 0.0),
                                  TrainingLoss::cross_entropy, Penalty::trace, 0.3, 0.05);
  EXPECT_FALSE(hard.mse);
  expect_near(*hard.cosine, 0.8432637, 5e-8);
  expect_near(hard.norm, 6.4950574, 5e-7);
  expect_near(hard.train, 0.1036305, 5e-8);
  expect_near(hard.objective, 0.0993396, 5e-8);
  expect_near(*hard.rank, 0.4447592, 5e-8);
  expect_near(hard.test, 0.1806312, 5e-8);
  const TrainedPoint many = solve(model_of(hardmax_channel(), 2, 0.5, 0.0),
                                  TrainingLoss::cross_entropy, Penalty::trace, 1.0, 0.05);
  expect_near(*many.cosine, 0.9718939, 5e-8);
  expect_near(many.norm, 24.143813, 5e-5);
  expect_near(many.test, 0.0756463, 5e-8);
}

/// S = zeta S0 knows nothing of the samples: its training loss is that of new samples, summed
/// plainly here, and the minimum is below it; by little where samples are many. At alpha = 1e6 the
/// minimum was once found at S = 0, a thousand times above.
TEST(Training, LargeSamplesOfHardmaxLabelsEndBelowEveryMultipleOfTheTeacher) {
  constexpr double little = 0.01;    // at alpha = 100 it is 0.6 %
  constexpr double resolved = 1e-5;  // what a residual of 1e-9 leaves of a length that costs little
  constexpr double zeta_steps = 1e-4;  // the square of the steps of zeta below
  const double pi = std::numbers::pi;
  for (const double alpha : {1e2, 1e4, 1e6}) {
    const TrainedPoint p = solve(model_of(hardmax_channel(), 2, 0.5, 0.0),
                                 TrainingLoss::cross_entropy, Penalty::trace, alpha, 1.0);
    double bound = std::numeric_limits<double>::infinity();
    for (double zeta = 1.0; zeta < 1e4; zeta *= 1.01) {
      double loss = 0.0;
      constexpr double step = 0.1;
      for (double s = -40.0; s < 2.2; s += step) {  // of the logarithm of a normal's size
        const double x = std::exp(s);
        const double density = 2.0 * std::exp(-0.5 * x * x) / std::sqrt(2.0 * pi);
        loss += 2.0 * step * x * density * std::log1p(std::exp(-zeta * std::sqrt(4.5) * x));
      }
      bound = std::min(bound, alpha * loss + zeta * std::sqrt(0.5));
    }
    EXPECT_LT(p.objective.value, bound);
    EXPECT_GT(p.objective.value, (1.0 - little) * bound);
    EXPECT_LT(p.objective.error, resolved * bound);
    EXPECT_FALSE(p.too_high());
    EXPECT_NEAR(p.bound->value, bound, zeta_steps * bound);
  }
}

TEST(Training, AnObjectiveAboveOneThatIsAttainedIsNoMinimum) {
  TrainedPoint p;
  p.objective = {3336.0, 535.0};
  p.bound = Estimate{132.4, 0.1};
  EXPECT_TRUE(p.too_high());
  p.objective = {134.0, 1.0};
  EXPECT_FALSE(p.too_high());
  // An error that would allow anything is no excuse.
  p.objective = {4734.0, 10270.0};
  EXPECT_TRUE(p.too_high());
}

/// [aim 86]: the decay times the penalty follows from the conjugates, and the objective is the
/// energy. Both are checked on the output side's own numbers.
TEST(Training, TheObjectiveIsTheEnergyOfTheEquations) {
  const AttentionIndexed model = model_of(softmax_channel(), 2, 0.5, 0.1);
  for (const TrainingLoss loss : {TrainingLoss::square, TrainingLoss::cross_entropy}) {
    const auto output = training_output(model, loss, 1);
    const double alpha = 0.2;
    const PenaltyTerm penalty{Penalty::trace, 0.03, 0.5};
    Conjugates start{};
    const FixedPoint point = fixed_point(*output, penalty, alpha, start, {});
    ASSERT_TRUE(point.status.converged());
    const RuleSolution& s = point.solutions.front();
    const Overlaps& o = s.student.overlaps;
    const double half =
        0.5 * (s.hats.norm * o.chi - s.hats.chi * o.norm + s.hats.overlap * o.overlap);
    constexpr double solved = 1e-7;  // the tolerance of the solver, amplified by its slopes
    EXPECT_NEAR(penalty.decay * s.student.penalty, half, solved);
    const double square = o.norm / (s.student.scale * s.student.scale);
    const double energy = alpha * s.moments.least -
                          0.25 * (s.hats.chi * o.norm - s.hats.norm * o.chi) +
                          0.5 * s.hats.overlap * o.overlap -
                          0.25 * s.hats.overlap * s.hats.overlap * square / s.hats.chi;
    EXPECT_NEAR(alpha * s.moments.train + penalty.decay * s.student.penalty, energy, solved);
  }
}

TEST(Training, ChangingBetaIsChangingUnits) {
  AttentionIndexed hot = model_of(softmax_channel(), 2, 0.5, 0.1);
  hot.beta = 0.5;
  // Student and teacher of beta 1/2 and decay lambda: the output at beta^2 q, beta^2 Q.
  const auto one =
      training_output(model_of(softmax_channel(), 2, 0.5, 0.1), TrainingLoss::square, 1);
  const auto half = training_output(hot, TrainingLoss::square, 1);
  AttentionIndexed narrow = model_of(softmax_channel(), 2, 0.5, 0.0);
  narrow.noise_variance = 0.25 * 1.6 - 1.5;  // so that Q = beta^2 (Q0 + s)
  const auto scaled = pair_softmax_output(narrow, TrainingLoss::square);
  const OutputMoments a = half->at({0.8, 0.9, 4.0}, 1);
  const OutputMoments b = scaled->at({0.2, 0.225, 1.0}, 1);
  EXPECT_NEAR(a.hats.norm, 0.25 * b.hats.norm, tolerance::dozens_of_roundings);
  EXPECT_NEAR(a.hats.overlap, 0.25 * b.hats.overlap, tolerance::dozens_of_roundings);
  EXPECT_NEAR(a.hats.chi, 0.25 * b.hats.chi, tolerance::dozens_of_roundings);
  EXPECT_NEAR(a.train, b.train, tolerance::dozens_of_roundings);
}

TEST(Training, NothingIsLearnedAtTheLargestDecayAndLittleJustBelow) {
  for (const TrainingLoss loss :
       {TrainingLoss::square, TrainingLoss::cross_entropy, TrainingLoss::fields}) {
    const Training training(model_of(softmax_channel(), 2, 0.5, 0.1), loss, Penalty::trace, 1);
    const double largest = training.max_decay(0.2).value;
    Conjugates start{};
    const TrainedPoint zero = training.at(0.2, 1.001 * largest, start, {});
    EXPECT_EQ(zero.validity, Validity::zero);
    EXPECT_DOUBLE_EQ(zero.mse->value, 1.5);
    const TrainedPoint near = training.at(0.2, 0.98 * largest, start, {});
    EXPECT_GT(near.norm.value, 0.0);
    EXPECT_LT(near.norm.value, 1e-3);
  }
}

/// What is left has fewer digits than the second moment of the spectrum: the student counts as
/// nothing, and does not explain more than all of the teacher.
TEST(StudentAtMinimum, AThresholdWithinRoundingOfTheEdgeLeavesNothing) {
  const double delta = 100.0;
  const double edge = right_edge(0.5, delta);
  for (const Penalty kind : {Penalty::trace, Penalty::nuclear}) {
    const PenaltyTerm penalty{kind, 0.1, 0.5};
    const StudentAtMinimum none = student_at(penalty, delta, (1.0 - 1e-7) * edge, 1.0, 1.0);
    EXPECT_TRUE(none.zero());
    EXPECT_EQ(none.overlaps.overlap, 0.0);
    EXPECT_EQ(none.overlaps.unexplained, 1.5);
    const StudentAtMinimum some = student_at(penalty, delta, 0.999 * edge, 1.0, 1.0);
    EXPECT_GT(some.overlaps.norm, 0.0);
    EXPECT_LT(*some.overlaps.unexplained, 1.5);
  }
}

TEST(Training, TheBestDecayOfFewHardmaxLabelsIsAMinimumOfTheTestError) {
  const Training training(model_of(hardmax_channel(), 2, 0.5, 0.0), TrainingLoss::cross_entropy,
                          Penalty::nuclear, 1);
  const TrainedPoint best = training.best(0.1, DecayGoal::test, {});
  Conjugates start{};
  // Its error is 1 %; 10 % to either side must be worse.
  for (const double factor : {0.9, 1.1}) {
    EXPECT_GT(training.at(0.1, factor * best.decay.value, start, {}).test.value, best.test.value);
  }
}

/// A softmax as steep as that turns between the nodes of every grid.
TEST(Training, SteepLabelsAreSeenWhereNothingIsLearned) {
  const double pi = std::numbers::pi;
  AttentionIndexed model = model_of(softmax_channel(), 2, 0.5, 0.0);
  for (const double beta : {40.0, 80.0, 1e6}) {
    model.beta = beta;
    const double deviation = beta * std::sqrt(3.0 * 1.5);
    // E sech^2 of half the score, whose density is flat where it turns: two terms of a series.
    const double slope =
        4.0 / (std::sqrt(2.0 * pi) * deviation) * (1.0 - pi * pi / (6.0 * deviation * deviation));
    const double series = 10.0 / std::pow(deviation, 5.0);
    for (const TrainingLoss loss : {TrainingLoss::square, TrainingLoss::cross_entropy}) {
      const Training training(model, loss, Penalty::trace, 1);
      Conjugates start{};
      const TrainedPoint zero = training.at(0.1, 1e9, start, {});
      EXPECT_EQ(zero.validity, Validity::zero);
      EXPECT_NEAR(zero.test.value, 1.0 - slope, series + tolerance::dozens_of_roundings);
      EXPECT_NEAR(zero.test_clean.value, 1.0 - slope, series + tolerance::dozens_of_roundings);
      EXPECT_NEAR(zero.train.value,
                  loss == TrainingLoss::square ? 1.0 - slope : 2.0 * std::log(2.0),
                  series + tolerance::dozens_of_roundings);
    }
  }
}

/// The test error of given overlaps against plain sums over the plane, as fine as the softmax is
/// steep, and against signs, which disagree in a share arccos(cosine)/pi.
TEST(Training, TestErrorsOfSteepLabelsAreThoseOfFineGrids) {
  constexpr double reach = 8.0;
  constexpr double step = 0.02;
  AttentionIndexed model = model_of(softmax_channel(), 2, 0.5, 0.0);
  model.beta = 15.0;
  const auto output = pair_softmax_output(model, TrainingLoss::square);
  for (const Overlaps& o :
       {Overlaps{1e-8, 1e-5, 0.0}, Overlaps{0.1, 0.3, 0.0}, Overlaps{1.4, 1.449, 0.0}}) {
    const double steep = model.beta * std::sqrt(3.0);
    const double share = o.overlap / o.norm;
    const double rest = std::sqrt(1.5 - share * o.overlap);
    double sum = 0.0;
    for (double x = -reach; x <= reach; x += step) {
      const double w = std::sqrt(o.norm) * x;
      const double answer = std::tanh(0.5 * steep * w);
      for (double z = -reach; z <= reach; z += step) {
        const double off = std::tanh(0.5 * steep * (share * w + rest * z)) - answer;
        sum += std::exp(-0.5 * (x * x + z * z)) * off * off;
      }
    }
    const double plain = sum * step * step / (2.0 * std::numbers::pi);
    EXPECT_NEAR(output->test(o, 1.5, 1), plain, tolerance::magnified_roundings);
    EXPECT_NEAR(output->test(o, 1.5, 3), plain, tolerance::many_roundings);
  }
  model.beta = 1e6;
  const auto signs = pair_softmax_output(model, TrainingLoss::square);
  const Overlaps known{0.1, 0.3, 0.0};
  const double differ = std::acos(0.3 / std::sqrt(0.15)) / std::numbers::pi;
  EXPECT_NEAR(signs->test(known, 1.5, 3), 4.0 * differ, 10.0 / model.beta);
}

TEST(Training, TheLargestDecayOfSteepLabelsIsThatOfSigns) {
  const double pi = std::numbers::pi;
  AttentionIndexed model = model_of(softmax_channel(), 2, 0.5, 0.0);
  model.beta = 1e6;
  const double alpha = 0.1;
  const double overlap = 12.0 * alpha * model.beta / std::sqrt(2.0 * pi * 3.0 * 1.5);
  const double norm =
      0.5 * alpha * model.beta * model.beta * (6.0 + 4.0 / pi * std::asin(1.0 / 3.0));
  const double largest = 0.5 * overlap * right_edge(0.5, norm / (overlap * overlap));
  const Training training(model, TrainingLoss::square, Penalty::trace, 1);
  const Estimate found = training.max_decay(alpha);
  EXPECT_NEAR(found.value, largest, 2.0 / model.beta * largest);
  EXPECT_LT(found.error, 2.0 / model.beta * largest);
}

/// While S = 0 hardmax labels know no beta but as a factor of the gradient, and those of a steep
/// softmax nearly none; responses that are 0 must stay so in units of beta.
TEST(Training, TheLargestDecayOfSignsGrowsLikeBeta) {
  const auto largest = [](AttentionIndexed model, TrainingLoss loss, double beta) {
    model.beta = beta;
    const Estimate found = Training(model, loss, Penalty::trace, 1).max_decay(0.1);
    return Estimate{found.value / beta, found.error / beta};
  };
  for (const int tokens : {2, 3}) {
    const AttentionIndexed model = model_of(hardmax_channel(), tokens, 0.5, 0.0);
    const Estimate one = largest(model, TrainingLoss::cross_entropy, 1.0);
    const Estimate steep = largest(model, TrainingLoss::cross_entropy, 1e6);
    EXPECT_NEAR(steep.value, one.value, tolerance::magnified_roundings);
  }
  const AttentionIndexed model = model_of(softmax_channel(), 3, 0.5, 0.0);
  const Estimate steep = largest(model, TrainingLoss::square, 1e4);
  const Estimate steeper = largest(model, TrainingLoss::square, 1e6);
  EXPECT_NEAR(steeper.value, steep.value, 5.0 * (steeper.error + steep.error));
}

/// The limit of small decays is the interpolator of least trace for every loss that interpolates.
TEST(Training, SmallDecaysOfSquaredErrorsEndAtTheInterpolator) {
  const AttentionIndexed model = model_of(softmax_channel(), 2, 0.5, 0.0);
  const Training training(model, TrainingLoss::square, Penalty::trace, 1);
  Conjugates start{};
  const TrainedPoint limit = training.at(0.12, 0.0, start, {});
  EXPECT_EQ(limit.validity, Validity::exact);
  EXPECT_EQ(limit.train.value, 0.0);
  const TrainedPoint fields = solve(model, TrainingLoss::fields, Penalty::trace, 0.12, 0.0);
  EXPECT_DOUBLE_EQ(limit.mse->value, fields.mse->value);
  const TrainedPoint small = training.at(0.12, 1e-3, start, {});
  const TrainedPoint smaller = training.at(0.12, 2.5e-4, start, {});
  EXPECT_LT(std::abs(smaller.mse->value - limit.mse->value),
            0.5 * std::abs(small.mse->value - limit.mse->value));
}

/// Cross-entropy without decay fits what squared errors fit, and keeps the entropy of its labels
/// [aim 106]; labels that nothing fits have a minimum of their own.
TEST(Training, CrossEntropyWithoutDecayIsTheLimitOfSmallDecays) {
  struct Case {
    double alpha;
    double noise;
  };
  for (const Case& c : {Case{0.1, 0.0}, Case{0.3, 0.2}}) {
    const AttentionIndexed model = model_of(softmax_channel(), 2, 0.5, c.noise);
    const auto at = [&](double decay) {
      return solve(model, TrainingLoss::cross_entropy, Penalty::trace, c.alpha, decay);
    };
    const TrainedPoint limit = at(0.0);
    EXPECT_EQ(limit.validity, Validity::exact);
    const TrainedPoint small = at(1e-5);
    const TrainedPoint smaller = at(5e-6);
    // Half the decay is half as far away, or nearer; both are near.
    constexpr double about_half = 0.6;
    constexpr double near = 1e-3;
    const auto expect = [&](const Estimate& found, const Estimate& one, const Estimate& other) {
      const double distance = std::abs(found.value - one.value);
      EXPECT_NEAR(found.value, other.value,
                  about_half * distance + 4.0 * (found.error + one.error + other.error))
          << c.alpha << " " << c.noise;
      EXPECT_LT(distance, near * found.value);
    };
    expect(limit.train, small.train, smaller.train);
    expect(limit.objective, small.objective, smaller.objective);
    expect(limit.trace, small.trace, smaller.trace);
    expect(limit.test, small.test, smaller.test);
  }
}

TEST(Training, NoisyLabelsInsideTheSoftmaxLeaveABias) {
  // S -> a S0 with a = 0.876168 and 0.884020, mse -> Q0 (1 - a)^2, however many samples [aim 98].
  const AttentionIndexed model = model_of(softmax_channel(), 2, 0.5, 0.25);
  // The overlap has corrections of order 1/alpha.
  constexpr double one_over_alpha = 1e-4;
  // The error has such corrections from the overlap and from the norm.
  constexpr double twice_one_over_alpha = 2e-4;
  for (const auto& [loss, scale] :
       {std::pair{TrainingLoss::square, 0.876168}, {TrainingLoss::cross_entropy, 0.884020}}) {
    const TrainedPoint p = solve(model, loss, Penalty::trace, 1e4, 1e-3);
    const double ratio = p.overlap.value / 1.5;
    EXPECT_NEAR(ratio, scale, one_over_alpha);
    EXPECT_NEAR(p.mse->value, 1.5 * (1.0 - scale) * (1.0 - scale), twice_one_over_alpha);
  }
}

TEST(Training, TheBestPossibleErrorIsNeverBeaten) {
  for (const double noise : {0.0, 0.2}) {
    const AttentionIndexed model = model_of(softmax_channel(), 2, 0.4, noise);
    const StateEvolution evolution(model, 1, {});
    const Training fields(model, TrainingLoss::fields, Penalty::trace, 1);
    for (const double alpha : {0.02, 0.1, 0.3, 1.0}) {
      const double least = evolution.at(alpha).mmse.value;
      EXPECT_GE(fields.best(alpha, DecayGoal::mse, {}).mse->value, least * (1.0 - 1e-9));
      for (const double decay : {0.001, 0.1, 1.0}) {
        Conjugates start{};
        EXPECT_GE(fields.at(alpha, decay, start, {}).mse->value, least);
      }
    }
  }
}

TEST(LongTraining, TheBestDecayOfSquaredErrorsIsAMinimumOfItsGoal) {
  const Training training(model_of(softmax_channel(), 2, 0.5, 0.25), TrainingLoss::square,
                          Penalty::trace, 1);
  for (const DecayGoal goal : {DecayGoal::mse, DecayGoal::test}) {
    const TrainedPoint best = training.best(0.3, goal, {});
    const auto value = [goal](const TrainedPoint& p) {
      return goal == DecayGoal::mse ? p.mse->value : p.test.value;
    };
    Conjugates start{};
    // Its error is 1 %; 10 % to either side must be worse.
    for (const double factor : {0.9, 1.1}) {
      EXPECT_GT(value(training.at(0.3, factor * best.decay.value, start, {})), value(best));
    }
  }
}

/// The same replicates see all decays, so that their noise is in common.
TEST(LongTraining, TheBestDecayOfThreeTokensIsAMinimumOfItsGoal) {
  const Training training(model_of(softmax_channel(), 3, 0.5, 0.25), TrainingLoss::cross_entropy,
                          Penalty::trace, 1);
  const TrainedPoint best = training.best(0.06, DecayGoal::mse, {});
  EXPECT_GT(best.decay.error, 0.0);
  Conjugates start{};
  for (const double factor : {0.75, 1.33}) {
    EXPECT_GT(training.at(0.06, factor * best.decay.value, start, {}).mse->value, best.mse->value);
  }
}

TEST(Training, WhatTheEquationsDoNotCoverIsRefused) {
  const auto make = [](const AttentionIndexed& model, TrainingLoss loss) {
    return Training(model, loss, Penalty::trace, 1);
  };
  EXPECT_THROW(make(model_of(linear_channel(), 2, 0.5, 0.0), TrainingLoss::fields),
               InvalidArgument);
  EXPECT_THROW(make(model_of(hardmax_channel(), 2, 0.5, 0.0), TrainingLoss::fields),
               InvalidArgument);
  EXPECT_THROW(make(model_of(hardmax_channel(), 2, 0.5, 0.0), TrainingLoss::square), Refused);
  EXPECT_THROW(make(model_of(softmax_channel(), 9, 0.5, 0.0), TrainingLoss::square), Refused);
  AttentionIndexed equal = model_of(softmax_channel(), 2, 0.5, 0.1);
  equal.noise_kind = NoiseKind::equal;
  EXPECT_THROW(make(equal, TrainingLoss::square), Refused);
  Conjugates start{};
  const Training entropy =
      make(model_of(hardmax_channel(), 2, 0.5, 0.0), TrainingLoss::cross_entropy);
  EXPECT_THROW((void)entropy.at(0.3, 0.0, start, {}), Refused);
}

TEST(LongTraining, ThreeTokensAgreeWithAnIndependentProgram) {
  const TrainedPoint p = solve(model_of(softmax_channel(), 3, 0.5, 0.25), TrainingLoss::square,
                               Penalty::trace, 0.06, 0.01);
  // Both are sampled; five errors of both together fail one time in a million.
  const auto expect = [](const Estimate& found, double printed, double error) {
    EXPECT_NEAR(found.value, printed, 5.0 * std::hypot(found.error, error));
  };
  expect(p.norm, 0.7963, 6e-4);
  expect(p.overlap, 0.8411, 4e-4);
  expect(*p.mse, 0.6142, 3e-4);
  expect(p.train, 0.01711, 1e-5);
  expect(p.objective, 0.005709, 3e-6);
  expect(*p.rank, 0.4126, 1e-4);
  expect(p.trace, 0.4684, 2e-4);
}

}  // namespace
}  // namespace onset::aim
