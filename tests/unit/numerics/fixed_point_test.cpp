#include "onset/numerics/fixed_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stop_token>
#include <string>

#include "onset/core/error.hpp"
#include "support/complaint.hpp"

namespace onset::numerics {
namespace {

using testing::wrong_option;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

FixedPoint iterate(const VectorMap& map, Vector start, const FixedPointOptions& options = {}) {
  return fixed_point(map, std::move(start), options, Context());
}

/// A rotation by an angle, scaled, about a centre: the eigenvalues are scale exp(+-i angle).
VectorMap spiral(double scale, double angle, double centre) {
  return [=](const Vector& x) {
    const double u = x[0] - centre;
    const double v = x[1] - centre;
    return Vector{centre + scale * (std::cos(angle) * u - std::sin(angle) * v),
                  centre + scale * (std::sin(angle) * u + std::cos(angle) * v)};
  };
}

TEST(FixedPoint, ConvergesOnAContraction) {
  const FixedPoint p = iterate([](const Vector& x) { return Vector{std::cos(x[0])}; }, {0.2});
  EXPECT_TRUE(p.status.converged());
  EXPECT_NEAR(p.x[0], 0.73908513321516064, 1e-10);
  EXPECT_LE(p.status.residual, 1e-10);
  // The residual falls by sin(0.739) = 0.674 per step: log(1e-10) / log(0.674) = 58.
  EXPECT_NEAR(p.status.iterations, 57, 4);

  const FixedPoint s = iterate(spiral(0.9, 1.0, 3.0), {0.0, 0.0});
  EXPECT_TRUE(s.status.converged());
  EXPECT_NEAR(s.x[0], 3.0, 1e-9);
  EXPECT_NEAR(s.x[1], 3.0, 1e-9);
}

TEST(FixedPoint, StartedAtTheFixedPointItTakesOneStep) {
  const FixedPoint p = iterate([](const Vector& x) { return x; }, {0.3, 4.0});
  EXPECT_TRUE(p.status.converged());
  EXPECT_EQ(p.status.iterations, 1);
  EXPECT_EQ(p.x, (Vector{0.3, 4.0}));
}

TEST(FixedPoint, LeavesAnUnstableFixedPointForAStableOne) {
  // x <- 2x / (1 + x^2)... fixed points 0 (slope 2) and +-1 (slope 0).
  const VectorMap map = [](const Vector& x) { return Vector{2.0 * x[0] / (1.0 + x[0] * x[0])}; };
  EXPECT_NEAR(iterate(map, {1e-6}).x[0], 1.0, 1e-9);
  EXPECT_NEAR(iterate(map, {-1e-6}).x[0], -1.0, 1e-9);
  EXPECT_GT(contraction(map, {0.0}), 1.0);
  EXPECT_LT(contraction(map, {1.0}), 1.0);
}

TEST(FixedPoint, ATwoCycleStagnates) {
  const FixedPoint p = iterate([](const Vector& x) { return Vector{1.0 - x[0]}; }, {0.2});
  EXPECT_EQ(p.status.reason, StopReason::stagnated);
  EXPECT_LE(p.status.iterations, 100);  // two windows
  EXPECT_NEAR(p.status.residual, 0.6, 1e-12);
}

TEST(FixedPoint, ALimitCycleStagnates) {
  // Rotation with a radius that is drawn to 1: a quasi-periodic orbit, whose residual varies.
  const VectorMap map = [](const Vector& x) {
    const double radius = std::hypot(x[0], x[1]);
    const double next = 0.5 * (radius + 1.0) / radius;
    return Vector{next * (std::cos(0.7) * x[0] - std::sin(0.7) * x[1]),
                  next * (std::sin(0.7) * x[0] + std::cos(0.7) * x[1])};
  };
  FixedPointOptions options;
  options.max_iterations = 100000;
  const FixedPoint p = iterate(map, {0.1, 0.0}, options);
  EXPECT_EQ(p.status.reason, StopReason::stagnated);
  EXPECT_LE(p.status.iterations, 1000);
  EXPECT_NEAR(std::hypot(p.x[0], p.x[1]), 1.0, 1e-9);
}

TEST(FixedPoint, SlowProgressIsNotStagnation) {
  // 1 - 0.999^50 = 5 % per window: more than the 1 % that counts as progress.
  FixedPointOptions options;
  options.max_iterations = 100000;
  const FixedPoint p =
      iterate([](const Vector& x) { return Vector{0.999 * x[0]}; }, {1.0}, options);
  EXPECT_TRUE(p.status.converged());
}

TEST(FixedPoint, DivergesWhenAnIterateIsNotFinite) {
  const FixedPoint grows = iterate([](const Vector& x) { return Vector{x[0] * x[0]}; }, {2.0});
  EXPECT_EQ(grows.status.reason, StopReason::diverged);
  EXPECT_LE(grows.status.iterations, 12);
  const FixedPoint nan = iterate([](const Vector&) { return Vector{not_a_number}; }, {2.0});
  EXPECT_EQ(nan.status.reason, StopReason::diverged);
  EXPECT_EQ(nan.status.iterations, 1);
}

TEST(FixedPoint, ANanInAnyComponentIsSeen) {
  const VectorMap first = [](const Vector& x) { return Vector{not_a_number, x[1]}; };
  const VectorMap last = [](const Vector& x) { return Vector{x[0], not_a_number}; };
  EXPECT_EQ(iterate(first, {1.0, 1.0}).status.reason, StopReason::diverged);
  EXPECT_EQ(iterate(last, {1.0, 1.0}).status.reason, StopReason::diverged);
}

TEST(FixedPoint, StopsAtTheAllowedNumberOfIterations) {
  int calls = 0;
  const VectorMap map = [&](const Vector& x) {
    ++calls;
    return Vector{0.9 * x[0]};
  };
  FixedPointOptions options;
  options.max_iterations = 7;
  const FixedPoint p = iterate(map, {1.0}, options);
  EXPECT_EQ(p.status.reason, StopReason::max_iterations);
  EXPECT_EQ(p.status.iterations, 7);
  EXPECT_EQ(calls, 7);
  EXPECT_NEAR(p.x[0], std::pow(0.9, 7), 1e-15);
  EXPECT_NEAR(p.status.residual, 0.1 * std::pow(0.9, 6), 1e-15);
}

TEST(FixedPoint, DampingTurnsATwoCycleIntoConvergence) {
  const VectorMap map = [](const Vector& x) { return Vector{1.0 - x[0]}; };
  FixedPointOptions options;
  options.damping = 0.3;  // slope 0.7 (-1) + 0.3 = -0.4
  const FixedPoint p = iterate(map, {0.2}, options);
  EXPECT_TRUE(p.status.converged());
  EXPECT_NEAR(p.x[0], 0.5, 1e-10);
  EXPECT_NEAR(p.status.iterations, std::log(1e-10 / 0.6) / std::log(0.4), 2.0);
}

TEST(FixedPoint, DampingDoesNotMoveTheFixedPointNorTheMeaningOfTheResidual) {
  const VectorMap map = [](const Vector& x) { return Vector{std::cos(x[0])}; };
  FixedPointOptions options;
  options.damping = 0.9;
  options.tolerance = 1e-6;
  const FixedPoint p = iterate(map, {0.2}, options);
  EXPECT_TRUE(p.status.converged());
  // |F(x) - x| <= 1e-6 and |F'| < 1: the distance is less than the residual over 1 + 0.67.
  EXPECT_NEAR(p.x[0], 0.73908513321516064, 1e-6);
}

TEST(FixedPoint, StopsWhenAskedTo) {
  std::stop_source source;
  Context context;
  context.stop = source.get_token();
  int calls = 0;
  const VectorMap map = [&](const Vector& x) {
    if (++calls == 3) source.request_stop();
    return Vector{0.999 * x[0]};
  };
  EXPECT_THROW((void)fixed_point(map, {1.0}, {}, context), Interrupted);
  EXPECT_EQ(calls, 3);
}

TEST(FixedPoint, NamesTheOptionThatIsWrong) {
  const auto field = [](auto change) { return wrong_option<FixedPointOptions>(change); };
  EXPECT_EQ(field([](auto&) {}), "none");
  EXPECT_EQ(field([](auto& o) { o.tolerance = 0.0; }), "tolerance");
  EXPECT_EQ(field([](auto& o) { o.max_iterations = 0; }), "max_iterations");
  EXPECT_EQ(field([](auto& o) { o.damping = 1.0; }), "damping");
  EXPECT_EQ(field([](auto& o) { o.damping = -0.1; }), "damping");
  EXPECT_EQ(field([](auto& o) { o.damping = not_a_number; }), "damping");
  EXPECT_EQ(field([](auto& o) { o.stagnation_window = 1; }), "stagnation_window");
}

TEST(Contraction, IsTheSpectralRadiusOfALinearMap) {
  // Triangular: eigenvalues on the diagonal, whatever stands above it.
  const VectorMap triangular = [](const Vector& x) {
    return Vector{0.5 * x[0] + 40.0 * x[1] + 1.0, -0.8 * x[1] + 2.0};
  };
  EXPECT_NEAR(contraction(triangular, {2.0, -3.0}), 0.8, 1e-6);
  // Complex pair: no entry of the Jacobian is as large as the radius.
  EXPECT_NEAR(contraction(spiral(0.95, 0.8, 1.0), {1.0, 1.0}), 0.95, 1e-7);
  EXPECT_NEAR(contraction(spiral(1.3, 2.0, 1.0), {1.0, 1.0}), 1.3, 1e-7);
}

TEST(Contraction, IsTheSlopeOfANonlinearMapAtItsFixedPoint) {
  const VectorMap cosine = [](const Vector& x) { return Vector{std::cos(x[0])}; };
  const double x = 0.73908513321516064;
  EXPECT_NEAR(contraction(cosine, {x}), std::sin(x), 1e-8);
  // The logistic map has slope 2 - a at 1 - 1/a: stable below a = 3 only.
  for (const double a : {2.5, 2.9, 3.1, 3.8}) {
    const VectorMap logistic = [a](const Vector& v) { return Vector{a * v[0] * (1.0 - v[0])}; };
    EXPECT_NEAR(contraction(logistic, {1.0 - 1.0 / a}), std::abs(2.0 - a), 1e-8);
  }
}

TEST(Contraction, ExceedsOneAtAnUnstableFixedPoint) {
  const VectorMap doubling = [](const Vector& x) {
    return Vector{2.0 * std::tanh(x[0]), 0.1 * x[1]};
  };
  EXPECT_NEAR(contraction(doubling, {0.0, 0.0}), 2.0, 1e-6);
}

TEST(Contraction, PredictsTheRateOfTheIteration) {
  const VectorMap map = [](const Vector& x) {
    return Vector{std::exp(-x[0] * x[1]), 0.5 * std::cos(x[0])};
  };
  const FixedPoint p = iterate(map, {0.5, 0.5});
  ASSERT_TRUE(p.status.converged());
  const double rate = contraction(map, p.x);
  FixedPointOptions rough;
  rough.tolerance = 1e-5;
  const int extra = p.status.iterations - iterate(map, {0.5, 0.5}, rough).status.iterations;
  EXPECT_NEAR(extra, std::log(1e-5) / std::log(rate), 3.0);
}

}  // namespace
}  // namespace onset::numerics
