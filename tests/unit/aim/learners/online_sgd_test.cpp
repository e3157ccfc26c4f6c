#include "aim/learners/online_sgd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "aim/limits/flow/solution.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "aim/model/channel.hpp"
#include "numerics/parallel.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/contexts.hpp"
#include "support/scale.hpp"
#include "unit/aim/limits/flow/flow_models.hpp"

namespace onset::aim {
namespace {

std::vector<OnlineRun> run_all(const FlowModel& model, const OnlineOptions& options, int runs) {
  std::vector<OnlineRun> out(static_cast<std::size_t>(runs));
  numerics::parallel_for(testing::with_threads(2), out.size(), [&](std::size_t run) {
    OnlineOptions own = options;
    own.run = run;
    out[run] = online_sgd(model, own, {});
  });
  return out;
}

Estimate mean_of(const std::vector<OnlineRun>& runs, std::size_t time, FlowNumber which) {
  std::vector<double> values;
  for (const OnlineRun& run : runs) values.push_back(run.numbers.at(time)[which]);
  return numerics::mean_over_runs(values);
}

/// Mean squares of an error matrix E under SGD with one sample of one token at a time, linear
/// labels and a direct student: N = |E|_F^2 and the squared trace move by a map that is exact at
/// every d [aim 77].
struct ErrorSquares {
  double norm;
  double trace;

  void step(double rate, double d) {
    const double c = rate / (d * d);
    const double next =
        norm * (1.0 - 4.0 * c + 2.0 * c * c * (d * d + 9.0 * d + 16.0)) + 8.0 * c * c * trace;
    trace = trace * (1.0 - 4.0 * c + 8.0 * c * c) + 4.0 * c * c * (d + 12.0) * norm;
    norm = next;
  }
};

TEST(AimOnlineSgd, MeanErrorOfLinearLabelsIsExactAtEveryDimension) {
  struct Case {
    std::size_t dim;
    double rate;
    std::size_t steps;
  };
  for (const Case& at : {Case{12, 1.0, 144}, Case{12, 0.5, 216}, Case{8, 0.25, 100}}) {
    FlowModel model = flow_model(linear_channel(), SgdLoss::squared, 1);
    model.student = Student::direct;
    model.start = StudentStart::identity;
    model.rate = at.rate;
    const auto teacher = teacher_quantiles(0.5, at.dim);
    const auto d = static_cast<double>(at.dim);
    model.scale = std::accumulate(teacher.begin(), teacher.end(), 0.0) / d;
    OnlineOptions options;
    options.dim = at.dim;
    options.batch = 1;
    options.steps = {0, at.steps};
    options.test_samples = 1;
    const auto runs = run_all(model, options, testing::scaled(2000));
    const Estimate found = mean_of(runs, 1, FlowNumber::mse);
    ErrorSquares exact{runs[0].numbers[0][FlowNumber::mse] * d, 0.0};
    for (std::size_t i = 0; i < at.steps; ++i) exact.step(at.rate, d);
    // Errors of 2000 runs are normal up to their skewness: five of them have odds of 1e-6.
    EXPECT_NEAR(found.value, exact.norm / d, 5.0 * found.error) << at.dim << " " << at.rate;
    if (testing::at_full_size()) {
      EXPECT_LT(found.error, 0.05 * found.value);
    }
  }
}

struct Compared {
  FlowModel model;
  std::vector<double> times;
  double finite;  ///< what the dimension may change, as a share
};

/// Runs of some steps of 0.002 of time beside the limit, whose matrices have size 32 where it needs
/// any.
void expect_the_flow(const Compared& c, std::size_t dim, int count, double errors) {
  OnlineOptions options;
  options.dim = dim;
  const auto d = static_cast<double>(dim);
  options.batch = static_cast<std::size_t>(std::max(1.0, 0.002 * d * d / c.model.rate));
  const double step = c.model.rate * static_cast<double>(options.batch) / (d * d);
  std::vector<double> times;
  for (const double time : c.times) {
    options.steps.push_back(static_cast<std::size_t>(std::round(time / step)));
    times.push_back(static_cast<double>(options.steps.back()) * step);
  }
  const auto runs = run_all(c.model, options, count);
  FlowOptions flow;
  flow.size = 32;
  const FlowSolution theory = solve_flow(c.model, times, flow, testing::with_threads(2));
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (const FlowNumber which : {FlowNumber::mse, FlowNumber::risk}) {
      const Estimate found = mean_of(runs, i, which);
      const Estimate limit = theory.students[i][which];
      EXPECT_NEAR(found.value, limit.value,
                  errors * std::hypot(found.error, limit.error) + c.finite * limit.value)
          << c.model.labels.channel->name() << " " << static_cast<int>(c.model.student) << " "
          << times[i];
      if (testing::at_full_size()) {
        EXPECT_LT(std::hypot(found.error, limit.error), 0.1 * limit.value);
      }
    }
  }
}

/// What other students and labels do, at a dimension at which it takes seconds. Nine errors of 16
/// runs (15 degrees of freedom) have odds of 1e-7. Another program found these differences at d =
/// 100, 200, 400: 5.4, 2.6, 2.4 % (three tokens, like the root of 1/d), 0.2 % (narrow), 1.5, 0.8,
/// 0.3 % (direct hardmax), less than 1 % (cross-entropy, untied); twice these are allowed.
TEST(AimOnlineSgd, FollowsTheFlowOfEveryStudent) {
  constexpr std::size_t dim = 32;
  constexpr double far_out = 9.0;
  constexpr double of_a_hundred = 100.0 / dim;
  FlowModel narrow = flow_model(softmax_channel(), SgdLoss::squared, 2, 2.0);
  narrow.scale = 0.2;
  narrow.rate = 0.1;
  FlowModel entropy = flow_model(softmax_channel(), SgdLoss::cross_entropy, 2, 1.0);
  entropy.scale = 0.5;
  entropy.decay = 0.1;
  entropy.rate = 0.4;
  FlowModel hardmax = flow_model(hardmax_channel(), SgdLoss::cross_entropy, 2);
  hardmax.student = Student::direct;
  hardmax.start = StudentStart::zero;
  hardmax.rate = 0.5;
  FlowModel untied = flow_model(softmax_channel(), SgdLoss::squared, 2);
  untied.student = Student::untied;
  untied.scale = 0.3;
  untied.rate = 0.2;
  for (const Compared& c : {Compared{narrow, {2.0}, 2.0 * 0.01 * of_a_hundred},
                            Compared{entropy, {0.8, 1.6}, 2.0 * 0.01 * of_a_hundred},
                            Compared{hardmax, {1.0}, 2.0 * 0.015 * of_a_hundred},
                            Compared{untied, {1.0, 2.5}, 2.0 * 0.01 * of_a_hundred}}) {
    expect_the_flow(c, dim, testing::scaled(16), far_out);
  }
}

/// The limit of three tokens samples the noise of SGD, which takes most of the time.
TEST(LongAimOnlineSgd, FollowsTheFlowOfThreeTokens) {
  constexpr std::size_t dim = 40;
  FlowModel three = flow_model(softmax_channel(), SgdLoss::squared, 3);
  three.scale = 0.3;
  three.rate = 0.1;
  const double finite = 2.0 * 0.054 * std::sqrt(100.0 / dim);
  expect_the_flow({three, {0.8}, finite}, dim, testing::scaled(16), 9.0);
}

/// The noise of SGD makes the error larger, by 13.5 % of it at this time [aim 68]: that is more
/// than what the test above allows for.
TEST(LongAimOnlineSgd, NoiseIsPartOfTheFlow) {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::cross_entropy, 2, 1.0);
  model.width_ratio = 0.5;
  model.scale = 0.5;
  model.decay = 0.1;
  const std::vector<double> times{0.8};
  const FlowSolution quiet = solve_flow(model, times, {}, {});
  model.rate = 0.4;
  FlowOptions options;
  options.size = 48;
  options.draws = 64;
  const FlowSolution noisy = solve_flow(model, times, options, testing::with_threads(2));
  // Another program has 13.5(4) %; six errors of 64 pairs have odds of 1e-7.
  const Estimate other{0.135, 0.004};
  const double without = quiet.students[0][FlowNumber::mse].value;
  const Estimate with = noisy.students[0][FlowNumber::mse];
  EXPECT_NEAR(with.value / without - 1.0, other.value,
              6.0 * std::hypot(with.error / without, other.error));
  EXPECT_LT(6.0 * with.error / without, other.value);  // no noise would be seen
}

/// Six errors of 8 runs (7 degrees of freedom, Student's factor included) have odds of 3e-4, and 12
/// numbers are compared at a fixed seed: so a false alarm needs 14, with odds of 1e-6. Finite
/// dimension is allowed for as measured elsewhere: 2 % of mse at d = 100, in proportion to 1/d.
TEST(LongAimOnlineSgd, FollowsTheFlow) {
  constexpr double far_out = 14.0;
  constexpr std::size_t dim = 64;
  constexpr double finite = 0.02 * 100.0 / dim;  // as a share
  FlowModel tied = flow_model(softmax_channel(), SgdLoss::squared, 2);
  tied.width_ratio = 0.75;
  tied.scale = 0.4;
  tied.rate = 0.1;
  FlowModel hardmax = flow_model(hardmax_channel(), SgdLoss::cross_entropy, 2);
  hardmax.scale = 0.3;
  hardmax.rate = 0.05;
  FlowModel direct = flow_model(softmax_channel(), SgdLoss::squared, 2, 1.0);
  direct.student = Student::direct;
  direct.start = StudentStart::zero;
  direct.rate = 3.0;
  FlowModel untied = flow_model(softmax_channel(), SgdLoss::squared, 2);
  untied.student = Student::untied;
  untied.start = StudentStart::identity;
  untied.scale = 0.3;
  untied.rate = 0.2;
  for (const Compared& c :
       {Compared{tied, {0.4, 1.5}, finite}, Compared{hardmax, {0.4}, finite},
        Compared{direct, {1.0}, finite}, Compared{untied, {1.0, 2.0}, finite}}) {
    expect_the_flow(c, dim, testing::scaled(8), far_out);
  }
}

/// [aim 70]: noise makes the error of a direct student grow above a rate of 2 (1.15 at d = 12 by
/// the exact map), and shrink below it.
TEST(AimOnlineSgd, GrowsBeyondTheStableRate) {
  FlowModel model = flow_model(linear_channel(), SgdLoss::squared, 1);
  model.student = Student::direct;
  model.start = StudentStart::zero;
  OnlineOptions options;
  options.dim = 12;
  options.batch = 1;
  options.steps = {0, 400};
  options.test_samples = 1;
  const auto change = [&](double rate) {
    model.rate = rate;
    const OnlineRun run = online_sgd(model, options, {});
    return run.numbers.at(1)[FlowNumber::mse] / run.numbers.at(0)[FlowNumber::mse];
  };
  EXPECT_LT(change(0.4), 0.3);
  EXPECT_GT(change(5.0), 10.0);
}

TEST(AimOnlineSgd, DivergedRunsAreSaid) {
  FlowModel model = flow_model(linear_channel(), SgdLoss::squared, 2);
  model.scale = 1.0;
  model.rate = 50.0;
  OnlineOptions options;
  options.dim = 8;
  options.batch = 4;
  options.steps = {10, 1000};
  EXPECT_TRUE(online_sgd(model, options, {}).diverged);
}

}  // namespace
}  // namespace onset::aim
