#include "aim/learners/gradient_descent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "numerics/random.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

TEST(AimDescent, GradientAgreesWithFiniteDifferences) {
  for (const char* channel : {"softmax", "linear"}) {
    auto model = model_of(channel, 3);
    model.beta = 1.3;
    const Problem p = draw(model, 8, 0.5);
    std::vector<double> w(8 * 4);
    numerics::Stream(5, "test weights").normal(w);
    std::vector<double> gradient;
    std::vector<double> unused;
    (void)label_loss(model, p.data, w, 4, gradient, {});
    for (const std::size_t i : {std::size_t{0}, std::size_t{7}, std::size_t{31}}) {
      auto up = w;
      auto down = w;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      const double slope = (label_loss(model, p.data, up, 4, unused, {}) -
                            label_loss(model, p.data, down, 4, unused, {})) /
                           2e-5;
      EXPECT_NEAR(gradient[i], slope, 1e-6 * (1.0 + std::abs(slope)));
    }
  }
}

TEST(AimDescent, TheTeacherHasNoLoss) {
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 12, 0.5);
  std::vector<double> gradient;
  EXPECT_NEAR(label_loss(model, p.data, p.teacher.weights, p.teacher.width, gradient, {}), 0.0,
              tolerance::squared_roundings);
}

TEST(AimDescent, SaysWhichStudentsDidNotArrive) {
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 16, 0.1);
  DescentOptions options;
  options.starts = 2;
  const auto ends = [&](int steps, double rate) {
    options.steps = steps;
    options.rate = rate;
    return gradient_descent(model, p.data, p.teacher, options, {});
  };
  for (const Status& end : ends(1, 0.1).ends) EXPECT_EQ(end.reason, StopReason::unfinished);
  for (const Status& end : ends(300, 100.0).ends) EXPECT_EQ(end.reason, StopReason::diverged);
  const DescentErrors good = ends(300, 0.1);
  for (const Status& end : good.ends) EXPECT_TRUE(end.converged());
  for (const double loss : good.loss) EXPECT_LT(loss, 1e-3);
}

TEST(AimDescent, APlateauAboveZeroIsAnEnd) {
  auto model = model_of("linear", 2);
  model.noise_variance = 0.5;
  const Problem p = draw(model, 16, 0.5);  // more labels than unknowns: noise cannot be fitted
  DescentOptions options;
  options.starts = 2;
  options.steps = 300;
  const DescentErrors e = gradient_descent(model, p.data, p.teacher, options, {});
  for (const Status& end : e.ends) {
    EXPECT_TRUE(end.converged());
    EXPECT_GT(end.residual, 0.05);
  }
}

TEST(AimDescent, AveragesAreBetterAndTheirLimitIsBetterStill) {
  const auto model = model_of("softmax", 2);
  const Problem p = draw(model, 24, 0.1);
  DescentOptions options;
  options.steps = 300;
  options.starts = 4;
  const DescentErrors e = gradient_descent(model, p.data, p.teacher, options, {});
  const double single = numerics::mean(e.single);
  EXPECT_LT(e.averaged, single);
  EXPECT_LT(e.extrapolated, e.averaged);
  EXPECT_NEAR(e.averaged, e.extrapolated + (single - e.extrapolated) / 4.0,
              tolerance::thousands_of_roundings);
  Context three;
  three.threads = 3;
  EXPECT_EQ(gradient_descent(model, p.data, p.teacher, options, three).single, e.single);
  std::vector<double> gradient;
  EXPECT_THROW((void)label_loss(model_of("hardmax", 2), p.data, p.teacher.weights, p.teacher.width,
                                gradient, {}),
               Refused);
}

}  // namespace
}  // namespace onset::aim
