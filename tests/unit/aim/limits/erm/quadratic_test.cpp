#include "aim/limits/erm/quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aim/limits/erm/recovery.hpp"
#include "aim/limits/erm/shrunk_spectrum.hpp"
#include "numerics/random/stream.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

/// Numbers with seven decimals are rounded by at most this.
constexpr double half_of_seventh_digit = 5e-8;
/// Numbers with eight decimals are rounded by at most this.
constexpr double half_of_eighth_digit = 5e-9;
/// Numbers with ten decimals are rounded by at most this.
constexpr double half_of_tenth_digit = 5e-11;
struct Case {
  QuadraticProblem problem;
  double decay, delta, threshold, chi, mse, rank;
};

/// Values of an independent program, verified by direct minimisation at d = 100 to 400; half a unit
/// of the last printed digit.
TEST(QuadraticTraining, HasTheValuesOfAnIndependentProgram) {
  // This is half a unit of the seventh decimal and a fifth more for the rounding of two programs.
  constexpr double seventh = 6e-8;
  // This is half a unit of the eighth decimal and a fifth more for the rounding of two programs.
  constexpr double eighth = 6e-9;
  // This is half a unit of the tenth decimal and a fifth more for the rounding of two programs.
  constexpr double tenth = 6e-11;
  for (const Case& c : {
           Case{{Penalty::trace, 0.5, 0.6, 0.05},
                0.1,
                0.57965526,
                0.53333352,
                1.35000057,
                0.2977931547,
                0.4796981},
           Case{{Penalty::trace, 0.5, 0.6, 0.1},
                0.05,
                0.81503893,
                0.44784493,
                2.43706956,
                0.3890233561,
                0.5153378},
           Case{{Penalty::trace, 0.2, 0.48, 0.0},
                0.002,
                0.01597150,
                0.08554785,
                10.0157415,
                0.0076663191,
                0.4081558},
           Case{{Penalty::trace, 0.5, 1.5, 0.5},
                0.2,
                0.55692608,
                0.12118689,
                0.204450837,
                0.3353891268,
                0.6162657},
           Case{{Penalty::trace, 1.0, 0.6, 0.2},
                0.1,
                1.6593228,
                0.79274499,
                2.12823498,
                0.7955936835,
                0.5194737},
           Case{{Penalty::nuclear, 0.3, 0.72, 0.1},
                0.1,
                0.49098770,
                0.43969544,
                1.33290359,
                0.2535111404,
                0.6603702},
       }) {
    const QuadraticMinimum m = quadratic_minimum(c.problem, c.decay);
    EXPECT_NEAR(m.delta, c.delta, seventh);
    EXPECT_NEAR(m.threshold, c.threshold, eighth);
    EXPECT_NEAR(m.chi, c.chi, seventh);
    const ShrunkSpectrum s =
        shrunk_spectrum(c.problem.penalty, c.problem.rho, m.delta, m.threshold);
    EXPECT_NEAR(s.error, c.mse, tenth);
    EXPECT_NEAR(s.rank, c.rank, seventh);
  }
}

/// Equations [aim 90] over random parameters. Wide noise cancels against itself.
TEST(QuadraticTraining, SolvesItsEquationsOverRandomParameters) {
  numerics::Stream stream(1, "quadratic training test");
  const auto log_uniform = [&](double low, double high) {
    return low * std::pow(high / low, stream.uniform());
  };
  for (int i = 0; i < 400; ++i) {
    const QuadraticProblem p{stream.uniform() < 0.5 ? Penalty::trace : Penalty::nuclear,
                             log_uniform(1e-3, 10.0), log_uniform(1e-3, 1e3),
                             stream.uniform() < 0.3 ? 0.0 : log_uniform(1e-6, 10.0)};
    const double largest = quadratic_max_decay(p);
    const double decay =
        stream.uniform() < 0.2 ? 0.0 : largest * std::exp(-12.0 * stream.uniform());
    const QuadraticMinimum m = quadratic_minimum(p, decay);
    if (m.exact) {
      EXPECT_EQ(p.noise, 0.0);
      continue;
    }
    const ShrunkSpectrum s = shrunk_spectrum(p.penalty, p.rho, m.delta, m.threshold);
    const double rounding = 1e-12 + 1e-13 * m.delta;
    EXPECT_NEAR((s.error + p.noise) / (p.equations * m.delta), 1.0, rounding);
    EXPECT_NEAR(2.0 * m.threshold * (p.equations - s.response), decay, 10.0 * rounding * largest);
    // No decay does better than the best one.
    const QuadraticMinimum best = best_quadratic_minimum(p);
    if (best.exact) continue;
    EXPECT_LE(shrunk_spectrum(p.penalty, p.rho, best.delta, best.threshold).error,
              s.error * (1.0 + 1e-9));
    EXPECT_GE(best.decay, 0.0);
  }
}

TEST(QuadraticTraining, HasTheBestDecay) {
  const QuadraticMinimum a = best_quadratic_minimum({Penalty::trace, 0.5, 0.6, 0.1});
  EXPECT_NEAR(a.decay, 0.1208450, half_of_seventh_digit);
  EXPECT_NEAR(shrunk_spectrum(Penalty::trace, 0.5, a.delta, a.threshold).error, 0.3678418,
              half_of_seventh_digit);
  const QuadraticMinimum b = best_quadratic_minimum({Penalty::trace, 0.1, 2.0, 0.25});
  EXPECT_NEAR(b.decay, 1.2078969, half_of_seventh_digit);
  EXPECT_NEAR(shrunk_spectrum(Penalty::trace, 0.1, b.delta, b.threshold).error, 0.03932481,
              half_of_eighth_digit);
  // Many samples: 2 c sqrt((1 - rho) s (A - A_rec)) up to a constant.
  const double equations = 2e5;
  const double asymptotic = 2.0 * trace_recovery_cut(0.3) * std::sqrt(0.7 * 0.2 * equations);
  EXPECT_NEAR(best_quadratic_minimum({Penalty::trace, 0.3, equations, 0.2}).decay, asymptotic,
              2e-3 * asymptotic);
}

TEST(QuadraticTraining, NeedsNoDecayInAWindow) {
  for (const auto& [rho, low] :
       {std::pair{0.05, 0.1170}, {0.2, 0.2216}, {0.5, 0.2512}, {1.0, 0.2616}}) {
    const DecayFreeWindow window = decay_free_window(rho, 0.0);
    EXPECT_NEAR(window.low, low, tolerance::half_of_fourth_digit);
    EXPECT_DOUBLE_EQ(window.high, trace_recovery(rho));
    for (const double inside : {0.3, 0.7}) {
      const double equations = window.low + inside * (window.high - window.low);
      EXPECT_EQ(best_quadratic_minimum({Penalty::trace, rho, equations, 0.0}).decay, 0.0);
    }
    EXPECT_GT(best_quadratic_minimum({Penalty::trace, rho, 0.9 * window.low, 0.0}).decay, 0.0);
  }
  const DecayFreeWindow noisy = decay_free_window(0.5, 0.01);
  EXPECT_GT(best_quadratic_minimum({Penalty::trace, 0.5, 1.02 * noisy.high, 0.01}).decay, 0.0);
  EXPECT_EQ(best_quadratic_minimum({Penalty::trace, 0.5, 0.98 * noisy.high, 0.01}).decay, 0.0);
  const DecayFreeWindow none = decay_free_window(0.5, 0.05);
  EXPECT_EQ(none.low, none.high);
}

TEST(QuadraticTraining, InterpolatesWithTheLeastTraceWithoutDecay) {
  const QuadraticMinimum m = quadratic_minimum({Penalty::trace, 0.5, 0.42, 0.0}, 0.0);
  EXPECT_NEAR(m.delta, 1.1475838, half_of_seventh_digit);
  EXPECT_NEAR(m.threshold, 0.85551015, half_of_eighth_digit);
  EXPECT_NEAR(shrunk_spectrum(Penalty::trace, 0.5, m.delta, m.threshold).error, 0.4819852163,
              half_of_tenth_digit);
  EXPECT_TRUE(std::isinf(m.chi));
  EXPECT_TRUE(quadratic_minimum({Penalty::trace, 0.5, 0.85, 0.0}, 0.0).exact);
  // A small decay is close to none.
  const QuadraticMinimum small = quadratic_minimum({Penalty::trace, 0.5, 0.42, 0.0}, 1e-8);
  // A decay of 1e-8 may move delta by a hundred times itself.
  constexpr double moved = 1e-6;
  EXPECT_NEAR(small.delta, m.delta, moved);
}

// A decay beyond the largest keeps nothing; it cuts R at its threshold all the same.
TEST(QuadraticTraining, ADecayBeyondTheLargestHasItsThreshold) {
  for (const Penalty penalty : {Penalty::trace, Penalty::nuclear}) {
    const QuadraticProblem p{penalty, 0.5, 0.8, 0.2};
    const double decay = 1.5 * quadratic_max_decay(p);
    const QuadraticMinimum m = quadratic_minimum(p, decay);
    EXPECT_TRUE(m.zero);
    EXPECT_NEAR(2.0 * p.equations * m.threshold, decay, tolerance::dozens_of_roundings * decay);
  }
}

TEST(QuadraticTraining, RidgeSolvesItsQuadraticAndHasItsBestDecay) {
  const QuadraticProblem p{Penalty::ridge, 0.3, 0.72, 0.1};
  const QuadraticMinimum m = quadratic_minimum(p, 0.1);
  EXPECT_NEAR(m.chi, 1.04696411, half_of_eighth_digit);
  EXPECT_NEAR(p.equations * m.chi / (m.chi + 0.25) + 4.0 * 0.1 * m.chi, 1.0,
              tolerance::dozens_of_roundings);
  const auto error = [&](double decay) {
    const QuadraticMinimum x = quadratic_minimum(p, decay);
    return p.equations * x.delta - p.noise;
  };
  EXPECT_NEAR(error(0.1), 0.5179049266, half_of_tenth_digit);
  // S = shrinkage R minimises (conjugate/4) (S - R)^2 + decay S^2, and chi is how S follows R.
  EXPECT_NEAR(m.conjugate * m.chi, m.shrinkage, tolerance::dozens_of_roundings);
  EXPECT_NEAR(m.conjugate / (m.conjugate + 4.0 * 0.1), m.shrinkage, tolerance::dozens_of_roundings);
  const double best = best_quadratic_minimum(p).decay;
  EXPECT_GT(error(1.01 * best), error(best));
  EXPECT_GT(error(0.99 * best), error(best));
}

}  // namespace
}  // namespace onset::aim
