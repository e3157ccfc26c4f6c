#include "aim/limits/curve.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "aim/limits/spectrum.hpp"
#include "aim/limits/thresholds.hpp"
#include "aim/model/channels/hardmax/information.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

/// A width of 1e-5 is off the limit by the order of its root, 3e-3.
constexpr double of_a_narrow_matrix = 0.01;
/// The next order of the tail is smaller by 1/alpha = 1e-4; ten of these.
constexpr double next_order_of_the_tail = 1e-3;
/// An error bar is a derivative times a relative error below half a percent; what that leaves out
/// is of the same size, times a few.
constexpr double second_order_in_the_error = 0.02;
/// The threshold is a root to 1e-12, and the curve magnifies that less than a thousandfold.
constexpr double of_a_root = 1e-9;

AttentionIndexed model_of(const char* channel, int tokens, double rho) {
  AttentionIndexed model;
  model.channel = &channel_named(channel);
  model.tokens = tokens;
  model.rho = rho;
  return model;
}

CurvePoint solve(const AttentionIndexed& model, double alpha) {
  return StateEvolution(model, 1, {}).at(alpha);
}

const std::vector<double> widths{0.01, 0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 10.0};

TEST(AimCurve, PointsSolveBothEquationsOfStateEvolution) {
  for (const double rho : widths) {
    for (const int tokens : {2, 3, 6}) {
      const double c = tokens * tokens + tokens - 2.0;
      for (const double share : {1e-6, 0.01, 0.3, 0.9, 0.999}) {
        const auto model = model_of("softmax", tokens, rho);
        const double alpha = share * shrinkage_without_noise(rho) / c;
        const CurvePoint p = solve(model, alpha);
        EXPECT_TRUE(p.status.converged());
        EXPECT_NEAR(p.conjugate.value * p.mmse.value, alpha * c, 1e-11 * alpha * c + 1e-15);
        EXPECT_NEAR(NoisySpectrum(rho, 1.0 / p.conjugate.value).mmse().value, p.mmse.value,
                    tolerance::thousands_of_roundings);
        EXPECT_NEAR(p.overlap.value + p.mmse.value, 1.0 + rho, tolerance::thousands_of_roundings);
        EXPECT_LT(p.mmse.error, 1e-10);
      }
    }
  }
}

TEST(AimCurve, PerfectRecoveryIsExactFromItsThresholdOn) {
  for (const double rho : widths) {
    const auto model = model_of("softmax", 2, rho);
    const double threshold = StateEvolution(model, 1, {}).perfect_recovery();
    EXPECT_DOUBLE_EQ(threshold, (rho < 1.0 ? 2.0 * rho - rho * rho : 1.0) / 4.0);
    for (const double factor : {1.0, 1.5, 1e6}) {
      const CurvePoint p = solve(model, factor * threshold);
      EXPECT_EQ(p.mmse.value, 0.0);
      EXPECT_EQ(p.overlap.value, 1.0 + rho);
    }
    EXPECT_GT(solve(model, (1.0 - 1e-6) * threshold).mmse.value, 0.0);
    EXPECT_LT(solve(model, (1.0 - 1e-6) * threshold).mmse.value, 1e-3);
  }
}

TEST(AimCurve, ErrorsFallWithTheNumberOfSamples) {
  for (const char* channel : {"softmax", "hardmax"}) {
    for (const double rho : {0.0, 0.01, 0.5, 1.0, 10.0}) {
      const StateEvolution evolution(model_of(channel, 2, rho), 1, {});
      double last = 1.0 + 1e-12;
      for (double alpha = 1e-6; alpha < 1e3; alpha *= 1.5) {
        const double mmse = evolution.at(alpha).mmse.value;
        EXPECT_LE(mmse, last) << rho << " " << alpha;
        EXPECT_GE(mmse, 0.0);
        last = mmse;
      }
    }
  }
}

TEST(AimCurve, NothingIsKnownButTheMeanWithoutData) {
  for (const char* channel : {"softmax", "hardmax", "linear"}) {
    const CurvePoint p = solve(model_of(channel, 2, 0.5), 0.0);
    EXPECT_EQ(p.mmse.value, 1.0);
    EXPECT_EQ(p.overlap.value, 0.5);
    EXPECT_EQ(p.conjugate.value, 0.0);
  }
}

TEST(AimCurve, SmallWidthsHaveTheirClosedForm) {
  for (const int tokens : {2, 3, 5}) {
    const auto model = model_of("softmax", tokens, 0.0);
    for (const double a : {0.5, 1.0, 1.2, 1.7, 1.999, 2.0, 3.0}) {
      const double exact = a <= 1.0 ? 1.0 : a >= 2.0 ? 0.0 : a * (2.0 - a);
      EXPECT_NEAR(solve(model, a / (tokens * tokens + tokens - 2.0)).mmse.value, exact,
                  tolerance::thousands_of_roundings);
    }
  }
}

TEST(AimCurve, NarrowMatricesApproachTheLimitOfSmallWidths) {
  for (const char* channel : {"softmax", "hardmax"}) {
    const double limit = solve(model_of(channel, 2, 0.0), 0.45).mmse.value;
    const double narrow = solve(model_of(channel, 2, 1e-5), 0.45e-5).mmse.value;
    EXPECT_NEAR(narrow, limit, of_a_narrow_matrix);
  }
}

TEST(AimCurve, HardmaxHasTheCheckedValueAndItsTail) {
  const auto model = model_of("hardmax", 2, 0.5);
  EXPECT_NEAR(solve(model, 0.5361).mmse.value, 0.1950, tolerance::half_of_fourth_digit);
  const double tail = std::pow(0.75 * std::sqrt(1.5) / (2.0 * hardmax_tie_constant(2) * 1e4), 2);
  EXPECT_NEAR(solve(model, 1e4).mmse.value / tail, 1.0, next_order_of_the_tail);
}

TEST(AimCurve, ThreeTokensOfHardmaxHaveErrorsBelowHalfAPercent) {
  for (const double rho : {0.01, 0.5, 10.0}) {
    for (const double alpha : {0.01, 0.1, 1.0, 10.0}) {
      const CurvePoint p = solve(model_of("hardmax", 3, rho), alpha);
      EXPECT_GT(p.mmse.error, 0.0);
      EXPECT_LT(p.mmse.error, 5e-3 * p.mmse.value) << rho << " " << alpha;
    }
  }
}

TEST(AimCurve, ErrorsOfASampledTableMoveErrorAndPrecisionTogether) {
  for (const double alpha : {0.05, 0.5}) {
    const CurvePoint p = solve(model_of("hardmax", 3, 0.5), alpha);
    const double relative = p.conjugate.error / p.conjugate.value;
    const double delta = 1.0 / p.conjugate.value;
    const double high = NoisySpectrum(0.5, delta * (1.0 + relative)).mmse().value;
    const double low = NoisySpectrum(0.5, delta * (1.0 - relative)).mmse().value;
    EXPECT_GT(p.mmse.error, 0.0);
    EXPECT_NEAR(0.5 * (high - low) / p.mmse.error, 1.0, second_order_in_the_error) << alpha;
  }
}

TEST(AimCurve, NoisyLabelsSolveTheirEquationsInBothConventions) {
  for (const int tokens : {1, 2, 4}) {
    auto model = model_of("linear", tokens, 0.5);
    model.noise_variance = 0.2;
    const double t = tokens;
    for (const double alpha : {0.01, 0.3, 30.0}) {
      const CurvePoint scaled = solve(model, alpha);
      EXPECT_NEAR(scaled.conjugate.value,
                  alpha * t * (t + 1.0) / (scaled.mmse.value + model.noise_variance),
                  1e-9 * scaled.conjugate.value);
      auto equal_model = model;
      equal_model.noise_kind = NoiseKind::equal;
      const CurvePoint equal = solve(equal_model, alpha);
      const double v = equal.mmse.value;
      EXPECT_NEAR(equal.conjugate.value,
                  2.0 * alpha * (2.0 * t / (2.0 * v + 0.2) + 0.5 * t * (t - 1.0) / (v + 0.2)),
                  1e-9 * equal.conjugate.value);
    }
  }
}

/// mmse = 4 (0.1875 - alpha) next to perfect recovery [aim 15].
TEST(AimCurve, ErrorsCoverTheTruthUpToPerfectRecovery) {
  for (const double below : {1e-12, 1e-13, 1e-14, 1e-15, 3e-16, 5e-17}) {
    const double alpha = 0.1875 - below;
    const CurvePoint p = solve(model_of("softmax", 2, 0.5), alpha);
    const double truth = 4.0 * (0.1875 - alpha);
    // Within the rounding of alpha the threshold is reached, exactly.
    EXPECT_NEAR(p.mmse.value, truth, 4.0 * p.mmse.error + tolerance::few_roundings) << below;
    EXPECT_LT(p.mmse.error, 5e-15) << below;
  }
}

TEST(AimCurve, AnErrorBelowWhatCanBeComputedIsSaid) {
  auto model = model_of("linear", 2, 0.5);
  model.noise_variance = 1e-20;
  EXPECT_TRUE(solve(model, 1.0).status.converged());
  model.noise_variance = 1e-40;
  const CurvePoint p = solve(model, 1.0);
  EXPECT_EQ(p.status.reason, StopReason::inaccurate);
  EXPECT_LT(p.mmse.value, 1e-25);
}

TEST(AimCurve, TemperatureDropsOut) {
  auto model = model_of("softmax", 3, 0.5);
  const double one = solve(model, 0.05).mmse.value;
  model.beta = 7.0;
  EXPECT_EQ(solve(model, 0.05).mmse.value, one);
}

/// Two layers behind one linear label, by iterating the 2 x 2 equations.
TEST(AimCurve, SumsOfWignerLayersSolveTheMatrixEquations) {
  auto model = model_of("linear", 2, 0.5);
  model.prior = PriorKind::wigner;
  model.layers = 2;
  model.labels = LayerLabels::sum;
  model.noise_variance = 0.3;
  const double alpha = 0.2;
  double kappa = 0.0;
  std::array<double, 3> v{1.0, 0.0, 1.0};  // V_11, V_12, V_22
  for (int i = 0; i < 1000; ++i) {
    const double sum = v[0] + 2.0 * v[1] + v[2];
    kappa = alpha * 6.0 / (sum + 0.3);
    // V = (I + kappa 11^T)^-1
    const double det = (1.0 + kappa) * (1.0 + kappa) - kappa * kappa;
    v = {(1.0 + kappa) / det, -kappa / det, (1.0 + kappa) / det};
  }
  const CurvePoint p = solve(model, alpha);
  EXPECT_NEAR(p.mmse.value, v[0], tolerance::thousands_of_roundings);
  EXPECT_NEAR(p.conjugate.value, kappa, tolerance::thousands_of_roundings);
}

TEST(AimCurve, LayersThatDoNotCloseAreRefused) {
  auto model = model_of("softmax", 2, 0.5);
  const double one = solve(model, 0.1).mmse.value;
  model.layers = 3;
  EXPECT_THROW((void)solve(model, 0.1), Refused);
  model.labels = LayerLabels::sum;
  EXPECT_THROW((void)solve(model, 0.1), Refused);
  model.labels = LayerLabels::separate;
  EXPECT_EQ(solve(model, 0.1).mmse.value, one);
}

/// Priors and channels whose potential is looked at.
std::vector<AttentionIndexed> potential_models() {
  std::vector<AttentionIndexed> all;
  for (const double rho : {0.0, 0.1, 0.5, 1.0, 3.0}) {
    all.push_back(model_of("softmax", 2, rho));
    all.push_back(model_of("hardmax", 2, rho));
    all.push_back(model_of("linear", 3, rho));
    all.back().noise_variance = 0.2;
  }
  all.push_back(model_of("linear", 2, 0.5));
  all.back().prior = PriorKind::wigner;
  return all;
}

/// Its slope in q is 0 at the fixed point, where aim curve has its value, and nowhere else is more.
TEST(AimPotential, IsLargestAtTheFixedPoint) {
  for (const AttentionIndexed& model : potential_models()) {
    const StateEvolution evolution(model, 1, {});
    // A little above the beginning, and next to perfect recovery where there is one.
    const double most = std::min(evolution.perfect_recovery(), 2.0);
    for (const double alpha : {0.55 * most, 0.9 * most}) {
      const CurvePoint p = evolution.at(alpha);
      const PotentialPoint there = evolution.potential(alpha, p.overlap.value);
      // The slope is a difference of two numbers of this size, known to some roundings and to
      // those of the overlap.
      const double size = 0.25 * p.conjugate.value;
      EXPECT_NEAR(there.slope.value, 0.0, tolerance::magnified_roundings * size + there.slope.error)
          << model.channel->name() << " " << model.rho << " " << alpha;
      EXPECT_NEAR(there.free_entropy.value, p.free_entropy->value,
                  tolerance::magnified_roundings + p.free_entropy->error);
      for (int i = 0; i < 40; ++i) {
        const double q =
            evolution.known() + (evolution.second_moment() - evolution.known()) * (i + 0.5) / 40.0;
        EXPECT_LE(evolution.potential(alpha, q).free_entropy.value,
                  p.free_entropy->value + tolerance::many_roundings);
      }
    }
  }
}

TEST(AimPotential, SlopesAreDerivatives) {
  for (const AttentionIndexed& model : potential_models()) {
    const StateEvolution evolution(model, 1, {});
    const double unknown = evolution.second_moment() - evolution.known();
    for (const double share : {0.3, 0.7}) {
      const double q = evolution.known() + share * unknown;
      constexpr double step = 1e-4;
      const double alpha = 0.1;
      const double slope = (evolution.potential(alpha, q + step).free_entropy.value -
                            evolution.potential(alpha, q - step).free_entropy.value) /
                           (2.0 * step);
      EXPECT_NEAR(slope, evolution.potential(alpha, q).slope.value,
                  tolerance::coarse_difference_quotient)
          << model.channel->name() << " " << model.rho;
    }
  }
}

/// Softmax labels without noise have a closed form, and alpha enters it by their part alone.
TEST(AimPotential, OfSoftmaxLabelsIsALogarithm) {
  const StateEvolution evolution(model_of("softmax", 3, 0.4), 1, {});
  const double q = 0.4 + 0.6;
  const double first = evolution.potential(0.02, q).free_entropy.value;
  const double second = evolution.potential(0.05, q).free_entropy.value;
  EXPECT_NEAR(second - first, 0.03 * 2.5 * std::log(1.0 / 0.4), tolerance::hundreds_of_roundings);
  const double step = 1e-5;
  const double slope = (evolution.at(0.05 + step).free_entropy->value -
                        evolution.at(0.05 - step).free_entropy->value) /
                       (2.0 * step);
  EXPECT_NEAR(slope, 2.5 * -std::log(evolution.at(0.05).mmse.value),
              tolerance::coarse_difference_quotient);
  EXPECT_EQ(evolution.at(0.0).free_entropy->value, 0.0);
  EXPECT_FALSE(evolution.at(1.0).free_entropy);  // perfect recovery
}

TEST(AimPotential, IsRefusedWhereNothingIsMaximal) {
  auto published = model_of("hardmax", 2, 0.5);
  published.published.density = true;
  EXPECT_THROW((void)StateEvolution(published, 1, {}).potential(0.1, 0.7), Refused);
  EXPECT_FALSE(solve(published, 0.1).free_entropy);
  auto sum = model_of("linear", 2, 0.5);
  sum.prior = PriorKind::wigner;
  sum.layers = 2;
  sum.labels = LayerLabels::sum;
  EXPECT_THROW((void)StateEvolution(sum, 1, {}).potential(0.1, 0.7), Refused);
}

TEST(AimCurve, IsTheSameForAnyNumberOfThreads) {
  const std::vector<double> alphas{0.01, 0.05, 0.1, 0.15};
  Context three;
  three.threads = 3;
  const auto model = model_of("hardmax", 2, 0.3);
  const auto first = bayes_curve(model, alphas, 1, {});
  const auto second = bayes_curve(model, alphas, 1, three);
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    EXPECT_EQ(first[i].mmse.value, second[i].mmse.value);
  }
}

TEST(AimCurve, BadModelsAreNamed) {
  const auto field = [](AttentionIndexed model) -> std::string {
    try {
      model.validate();
    } catch (const InvalidArgument& e) {
      return e.field();
    }
    return "";
  };
  EXPECT_EQ(field(model_of("softmax", 1, 0.5)), "tokens");
  EXPECT_EQ(field(model_of("hardmax", 1, 0.5)), "tokens");
  EXPECT_EQ(field(model_of("linear", 1, 0.5)), "");
  EXPECT_EQ(field(model_of("linear", 2, -0.5)), "rho");
  EXPECT_EQ(field(model_of("linear", 2, std::nan(""))), "rho");
  auto noisy = model_of("hardmax", 2, 0.5);
  noisy.noise_variance = 1.0;
  EXPECT_EQ(field(noisy), "noise_variance");
}

TEST(AimThresholds, CountEquationsAndUnknowns) {
  const BayesThresholds half = bayes_thresholds(model_of("softmax", 2, 0.5), 1, {});
  EXPECT_DOUBLE_EQ(half.perfect->value, 0.75 / 4.0);
  EXPECT_FALSE(half.weak);
  // The boundary of the spectrum is on the curve, where it says.
  const CurvePoint p = solve(model_of("softmax", 2, 0.5), half.two_bands->value);
  EXPECT_NEAR(1.0 / p.conjugate.value, two_band_delta(0.5), of_a_root);
  const BayesThresholds narrow = bayes_thresholds(model_of("linear", 3, 0.0), 1, {});
  EXPECT_DOUBLE_EQ(narrow.weak->value, 1.0 / 12.0);
  EXPECT_DOUBLE_EQ(narrow.perfect->value, 2.0 / 12.0);
  const BayesThresholds hard = bayes_thresholds(model_of("hardmax", 2, 0.0), 1, {});
  const double plus = 0.25 + std::asin(1.0 / 3.0) / (2.0 * std::numbers::pi);
  const double information = (2.0 / plus + 1.0 / (0.5 - plus)) / (3.0 * std::numbers::pi);
  EXPECT_NEAR(hard.weak->value, 1.0 / (2.0 * information), of_a_root);
  EXPECT_FALSE(hard.perfect);
  EXPECT_FALSE(bayes_thresholds(model_of("softmax", 2, 2.0), 1, {}).two_bands);
}

}  // namespace
}  // namespace onset::aim
