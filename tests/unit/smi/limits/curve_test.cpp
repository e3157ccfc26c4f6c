#include "smi/limits/curve.hpp"
#include "smi/model/attention_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "onset/core/error.hpp"
#include "smi/limits/prediction_error.hpp"
#include "smi/model/links.hpp"
#include "support/plain_iteration.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// Plain iterations of the test itself, which end below 1e-7 of a step.
constexpr double end_of_an_iteration = 1e-6;
/// The error that the least effort states here is below this.
constexpr double least_effort = 0.005;
/// Steps of 3e-4 that shrink by a tenth each have 3e-3 to go, from both sides.
constexpr double steps_that_shrink = 0.02;

using numerics::Replicates;

/// Student t of 15 degrees of freedom (16 replicates) beyond 11: odds of 1.4e-8, so that the some
/// 70 comparisons of this file have a false-alarm rate of 1e-6 together. Seeds are fixed.
constexpr double far_out = 11.0;

DeepAttention one_layer(int tokens) {
  DeepAttention model;
  model.layers = 1;
  model.tokens = tokens;
  return model;
}

Context two_threads() {
  Context context;
  context.threads = 2;
  return context;
}

/// Gain and evidence of one layer by a two-dimensional trapezoid rule: no sampling.
///
/// With rho = |z*| and x = z*.omega / V = (Q rho^2 + rho sqrt(Q V) xi) / V, xi a standard normal,
///   r = M - E[rho^2 (1 - tanh x)] / V,
///   Psi = -(M/2) log(2 pi e V) + E log(1 + exp(-2 x)),
/// since Z_out = N(z*; omega, V) (1 + exp(-2 x)).
struct OneLayer {
  double gain;
  double evidence;
};

OneLayer one_layer_channel(int tokens, double v) {
  const double q = 1.0 - v;
  const double log_norm = (1.0 - 0.5 * tokens) * std::numbers::ln2 - std::lgamma(0.5 * tokens);
  constexpr double log_step = 0.05;
  double gain = 0.0;
  double evidence = 0.0;
  for (double t = -12.0; t < std::log(12.0); t += log_step) {
    const double rho = std::exp(t);
    const double slope = rho * std::sqrt(q / v);
    const double step = std::fmin(0.2, 0.25 / slope);  // follows the poles of tanh
    double inner_gain = 0.0;
    double inner_evidence = 0.0;
    for (double xi = -9.0; xi < 9.0; xi += step) {
      const double density = step * std::exp(-0.5 * xi * xi) / std::sqrt(2.0 * std::numbers::pi);
      const double x = q * rho * rho / v + slope * xi;
      inner_gain += density * 2.0 / (1.0 + std::exp(2.0 * x));
      inner_evidence += density * (x > 0.0 ? std::log1p(std::exp(-2.0 * x))
                                           : -2.0 * x + std::log1p(std::exp(2.0 * x)));
    }
    const double weight = log_step * std::exp(log_norm + tokens * t - 0.5 * rho * rho);
    gain += weight * rho * rho * inner_gain;
    evidence += weight * inner_evidence;
  }
  return {tokens - gain / v,
          evidence - 0.5 * tokens * std::log(2.0 * std::numbers::pi * std::numbers::e * v)};
}

/// Where plain state evolution V <- 1 / (1 + alpha r / V) ends.
double one_layer_variance(int tokens, double alpha, double start) {
  const auto step = [&](const std::vector<double>& v) {
    return std::vector<double>{1.0 / (1.0 + alpha * one_layer_channel(tokens, v[0]).gain / v[0])};
  };
  const auto p = testing::iterate(step, {start}, 1e-8, 100'000);
  EXPECT_TRUE(p.converged) << tokens << " tokens, alpha " << alpha;
  return p.x[0];
}

/// The least effort: enough where a test does not ask for precision.
CurveOptions coarse() {
  CurveOptions options;
  options.tolerance = 0.05;
  return options;
}

/// Sample ratios between the threshold 1 / (M (M + 1)) and 1 / M, away from both, where plain
/// iteration is fast.
std::vector<double> inner_alphas(int tokens) {
  const double low = 1.0 / (tokens * (tokens + 1.0));
  const double high = 1.0 / tokens;
  return {low + 0.25 * (high - low), low + 0.5 * (high - low), low + 0.8 * (high - low)};
}

TEST(Curve, OneLayerAgreesWithDeterministicStateEvolution) {
  for (const int tokens : {2, 3, 5}) {
    const std::vector<double> alphas = inner_alphas(tokens);
    const BayesCurve curve =
        bayes_curve(*attention_model(one_layer(tokens)), alphas, {}, two_threads());
    EXPECT_TRUE(curve.met_tolerance);
    for (std::size_t k = 0; k < alphas.size(); ++k) {
      const CurvePoint& p = curve.points[k];
      const std::string what = std::to_string(tokens) + " tokens, alpha " + std::to_string(p.alpha);
      const double v = one_layer_variance(tokens, p.alpha, 0.9);
      EXPECT_NEAR(p.overlap[0].value, 1.0 - v, far_out * p.overlap[0].error + 1e-6) << what;
      EXPECT_LT(p.overlap[0].error, 1e-2) << what;
      EXPECT_GT(p.overlap[0].error, 0.0) << what;
      EXPECT_TRUE(p.status.converged()) << what;
      const double phi =
          0.5 * (1.0 - v + std::log(v)) + p.alpha * one_layer_channel(tokens, v).evidence;
      EXPECT_NEAR(p.free_entropy.value, phi, far_out * p.free_entropy.error + 1e-6) << what;
      EXPECT_LT(p.free_entropy.error, 1e-2) << what;
    }
  }
}

TEST(Curve, OneLayerHasOneBranch) {
  // No hard phase: from below and from above plain iteration ends at the same point, and so do the
  // three choices, bit for bit.
  const std::vector<double> alphas = inner_alphas(2);
  for (const double alpha : alphas) {
    EXPECT_NEAR(one_layer_variance(2, alpha, 0.95), one_layer_variance(2, alpha, 0.02),
                end_of_an_iteration);
  }
  CurveOptions options = coarse();
  const BayesCurve uninformed =
      bayes_curve(*attention_model(one_layer(2)), alphas, options, two_threads());
  for (const BranchChoice choice : {BranchChoice::informed, BranchChoice::optimal}) {
    options.choice = choice;
    const BayesCurve other =
        bayes_curve(*attention_model(one_layer(2)), alphas, options, two_threads());
    for (std::size_t k = 0; k < alphas.size(); ++k) {
      EXPECT_EQ(other.points[k].overlap[0].value, uninformed.points[k].overlap[0].value);
      EXPECT_EQ(other.points[k].free_entropy.value, uninformed.points[k].free_entropy.value);
    }
  }
}

TEST(Curve, BelowTheThresholdNothingIsLearnedExactly) {
  for (const int tokens : {2, 4}) {
    const double threshold = 1.0 / (tokens * (tokens + 1.0));
    const std::vector<double> alphas = {0.01, 0.5 * threshold, 0.999 * threshold};
    for (const auto choice :
         {BranchChoice::uninformed, BranchChoice::informed, BranchChoice::optimal}) {
      CurveOptions options = coarse();
      options.choice = choice;
      for (const CurvePoint& p :
           bayes_curve(*attention_model(one_layer(tokens)), alphas, options, two_threads())
               .points) {
        EXPECT_EQ(p.overlap[0].value, 0.0);
        EXPECT_EQ(p.overlap[0].error, 0.0);
        // Psi is log 2 minus the entropy of the fields, and Phi = alpha Psi.
        const double psi =
            std::numbers::ln2 - 0.5 * tokens * std::log(2.0 * std::numbers::pi * std::numbers::e);
        EXPECT_NEAR(p.free_entropy.value, p.alpha * psi, tolerance::hundreds_of_roundings);
        EXPECT_TRUE(p.status.converged());
      }
    }
  }
}

TEST(Curve, FromPerfectRecoveryOnEverythingIsExact) {
  for (const int tokens : {2, 3}) {
    const std::vector<double> alphas = {1.0 / tokens, 1.02 / tokens, 2.0 / tokens, 10.0};
    for (const auto choice :
         {BranchChoice::uninformed, BranchChoice::informed, BranchChoice::optimal}) {
      CurveOptions options = coarse();
      options.choice = choice;
      for (const CurvePoint& p :
           bayes_curve(*attention_model(one_layer(tokens)), alphas, options, two_threads())
               .points) {
        EXPECT_EQ(p.overlap[0].value, 1.0) << p.alpha;
        EXPECT_EQ(p.overlap[0].error, 0.0) << p.alpha;
        EXPECT_EQ(p.error_plugin.value, 0.0) << p.alpha;
        EXPECT_EQ(p.error_bayes.value, 0.0) << p.alpha;
        EXPECT_EQ(p.error_plugin.error, 0.0) << p.alpha;
        EXPECT_EQ(p.free_entropy.value, HUGE_VAL) << p.alpha;
        EXPECT_TRUE(p.status.converged()) << p.alpha;
      }
    }
  }
}

TEST(Curve, TheBayesErrorIsBelowThePlugInErrorAndBothFallForOneLayer) {
  std::vector<double> alphas;
  for (double alpha = 0.1; alpha < 0.5; alpha += 0.05) alphas.push_back(alpha);
  const BayesCurve curve =
      bayes_curve(*attention_model(one_layer(2)), alphas, coarse(), two_threads());
  double plugin = HUGE_VAL;
  double bayes = HUGE_VAL;
  for (const CurvePoint& p : curve.points) {
    EXPECT_LE(
        p.error_bayes.value,
        p.error_plugin.value + far_out * std::hypot(p.error_bayes.error, p.error_plugin.error));
    EXPECT_LE(p.error_plugin.value, plugin + far_out * p.error_plugin.error) << p.alpha;
    EXPECT_LE(p.error_bayes.value, bayes + far_out * p.error_bayes.error) << p.alpha;
    plugin = p.error_plugin.value;
    bayes = p.error_bayes.value;
  }
}

/// With little noise S the label is linear in what is left: V = S^2 / (alpha M - 1).
TEST(Curve, WithLittleNoiseTheOverlapIsCloseToOneAndKnownThatWell) {
  for (const double noise : {1e-2, 1e-4, 1e-5}) {
    DeepAttention model = one_layer(2);
    model.noise = noise;
    const std::vector<double> alphas = {0.6, 1.0, 20.0};
    const BayesCurve curve = bayes_curve(*attention_model(model), alphas, coarse(), two_threads());
    for (const CurvePoint& p : curve.points) {
      const double left = noise * noise / (2.0 * p.alpha - 1.0);
      EXPECT_NEAR(1.0 - p.overlap[0].value, left, 8.0 * p.overlap[0].error + 1e-2 * left)
          << noise << ' ' << p.alpha;
      EXPECT_LT(p.overlap[0].error, 0.05 * left) << noise << ' ' << p.alpha;
      EXPECT_TRUE(p.status.converged()) << noise << ' ' << p.alpha;
    }
  }
}

TEST(Curve, FurtherThanTheBranchWasFollowedNothingIsClaimed) {
  DeepAttention model = one_layer(2);
  model.noise = 1e-8;
  const BayesCurve curve =
      bayes_curve(*attention_model(model), std::vector{10.0}, coarse(), two_threads());
  EXPECT_FALSE(curve.points[0].status.converged());
}

/// At the very threshold of exact recovery, which does not attract there yet.
TEST(Curve, TheOptimumOfPhaseRetrievalWhereExactRecoveryBegins) {
  CurveOptions options = coarse();
  options.choice = BranchChoice::optimal;
  const BayesCurve curve =
      bayes_curve(*link_model("square"), std::vector{1.0, 1.01}, options, two_threads());
  // One layer of one token shows its field up to a sign, as the square does.
  EXPECT_NEAR(curve.points[0].overlap[0].value, 1.0 - one_layer_variance(1, 1.0, 0.9),
              least_effort);
  EXPECT_LT(curve.points[0].overlap[0].error, least_effort);
  EXPECT_EQ(curve.points[1].overlap[0].value, 1.0);
}

TEST(Curve, EveryPointIsHandedOverOnceAndInOrder) {
  const std::vector<double> alphas = {0.4, 0.1, 0.3, 0.3, 0.9};
  std::vector<double> seen;
  const BayesCurve curve =
      bayes_curve(*attention_model(one_layer(2)), alphas, coarse(), two_threads(),
                  [&](const CurvePoint& p) { seen.push_back(p.alpha); });
  EXPECT_EQ(seen, alphas);
  ASSERT_EQ(curve.points.size(), alphas.size());
  for (std::size_t k = 0; k < alphas.size(); ++k) EXPECT_EQ(curve.points[k].alpha, alphas[k]);
  EXPECT_EQ(curve.points[2].overlap[0].value, curve.points[3].overlap[0].value);
}

TEST(Curve, APointDoesNotDependOnItsNeighbours) {
  // As long as the same staircase meets the tolerance for both.
  const BayesCurve alone =
      bayes_curve(*attention_model(one_layer(2)), std::vector{0.3}, coarse(), two_threads());
  const BayesCurve among = bayes_curve(*attention_model(one_layer(2)), std::vector{0.1, 0.3, 0.45},
                                       coarse(), two_threads());
  EXPECT_EQ(alone.points[0].overlap[0].value, among.points[1].overlap[0].value);
  EXPECT_EQ(alone.points[0].error_plugin.value, among.points[1].error_plugin.value);
}

TEST(Curve, NamesTheFieldThatIsWrong) {
  const auto field = [](double alpha, auto change) {
    CurveOptions options;
    change(options);
    try {
      (void)bayes_curve(*attention_model(one_layer(2)), std::vector{alpha}, options, Context());
    } catch (const InvalidArgument& error) {
      return error.field();
    }
    return std::string("none");
  };
  EXPECT_EQ(field(0.0, [](auto&) {}), "alpha");
  EXPECT_EQ(field(-1.0, [](auto&) {}), "alpha");
  EXPECT_EQ(field(HUGE_VAL, [](auto&) {}), "alpha");
  EXPECT_EQ(field(std::nan(""), [](auto&) {}), "alpha");
  EXPECT_EQ(field(0.3, [](auto& o) { o.tolerance = 0.0; }), "tolerance");
  EXPECT_EQ(field(0.3, [](auto& o) { o.max_points = 256; }), "max_points");
}

/// Two layers at skip 1, computed once. Thresholds at 0.185, 0.72 and 1.
const BayesCurve& two_layer_curve() {
  static const BayesCurve curve = [] {
    CurveOptions options;
    options.tolerance = 3e-2;
    const std::vector<double> alphas = {0.1, 0.3, 0.48, 0.5, 0.52, 0.86, 0.88, 0.9, 1.05, 1.2};
    return bayes_curve(*attention_model(DeepAttention()), alphas, options, two_threads());
  }();
  return curve;
}

const CurvePoint& two_layer_point(double alpha) {
  for (const CurvePoint& p : two_layer_curve().points) {
    if (p.alpha == alpha) return p;
  }
  throw std::logic_error("not on the grid");
}

/// Plain state evolution at the points that the branches of two_layer_curve() are traced with, so
/// that both see the same noise and only the way to the fixed point differs.
testing::Iterated plain_state_evolution(double alpha, const std::vector<double>& start) {
  ChannelOptions rule;
  rule.points = 1024;
  rule.nodes = 128;
  const Channel channel(DeepAttention(), rule);
  const Context context = two_threads();
  const auto step = [&](const std::vector<double>& variance) {
    const ChannelInformation info = channel.at(variance, context);
    std::vector<double> next(variance.size());
    for (std::size_t l = 0; l < next.size(); ++l) {
      next[l] = 1.0 / (1.0 + alpha * numerics::mean(info.gain[l]) / variance[l]);
      next[l] = std::fmin(next[l], 1.0 - 1e-12);  // the gain of an unlearned layer is noisy
    }
    return next;
  };
  return testing::iterate(step, start, 3e-4, 100);
}

void expect_plain_state_evolution_agrees(double alpha, const std::vector<double>& below,
                                         const std::vector<double>& above) {
  const CurvePoint& p = two_layer_point(alpha);
  const auto up = plain_state_evolution(alpha, below);
  const auto down = plain_state_evolution(alpha, above);
  EXPECT_TRUE(up.converged) << alpha;
  EXPECT_TRUE(down.converged) << alpha;
  for (std::size_t l = 0; l < 2; ++l) {
    const std::string what = "alpha " + std::to_string(alpha) + ", layer " + std::to_string(l + 1);
    // The mean over replicates of fixed points is not that of the mean map, at second order in
    // their scatter: 16 error^2 times a curvature of order 1. Interpolation is in the error.
    const double error = p.overlap[l].error;
    const double room = 32.0 * error * error + 0.5 * error + 1e-3;
    EXPECT_GT(p.overlap[l].value, 1.0 - up.x[l] - room) << what;
    EXPECT_LT(p.overlap[l].value, 1.0 - down.x[l] + room) << what;
    // Both iterations are near: steps of 3e-4 that shrink by a tenth each have 3e-3 to go.
    EXPECT_NEAR(up.x[l], down.x[l], steps_that_shrink) << what;
  }
}

/// Psi from Phi, and its error.
Estimate evidence(const CurvePoint& p) {
  Estimate psi{p.free_entropy.value, p.free_entropy.error};
  for (const Estimate& q : p.overlap) {
    psi.value -= 0.5 * (q.value + std::log1p(-q.value));
    // d(Q + log V) / 2 = -Q / (2 V) dQ.
    psi.error += 0.5 * q.value / (1.0 - q.value) * q.error;
  }
  return {psi.value / p.alpha, psi.error / p.alpha};
}

/// dPhi/dalpha = Psi(Q*) where Phi is stationary in Q. The error of a central difference over h is
/// h^2 / 6 times the third derivative of Phi, below 1e-3 (Phi varies over 0.1 or more).
void expect_envelope_theorem(double low, double middle, double high) {
  const double slope =
      (two_layer_point(high).free_entropy.value - two_layer_point(low).free_entropy.value) /
      (high - low);
  const Estimate psi = evidence(two_layer_point(middle));
  EXPECT_NEAR(slope, psi.value, far_out * psi.error + 1e-3) << middle;
  EXPECT_LT(psi.error, 0.05) << middle;
}

/// The evidence integrated along the curve against the direct estimate at other points.
void expect_direct_evidence(double alpha) {
  const CurvePoint& p = two_layer_point(alpha);
  std::vector<double> variance;
  for (const Estimate& q : p.overlap) variance.push_back(1.0 - q.value);
  ChannelOptions rule;
  rule.nodes = 512;
  rule.seed = 78;
  const auto info = Channel(DeepAttention(), rule).at(variance, two_threads());
  const Estimate direct = numerics::reduce(info.log_evidence);
  const Estimate integrated = evidence(p);
  // The log of an inner estimate of relative variance s^2 is low by s^2 / 2: about 1e-3.
  EXPECT_NEAR(integrated.value, direct.value,
              far_out * std::hypot(direct.error, integrated.error) + 1e-3)
      << alpha;
  EXPECT_LT(direct.error, 0.03) << alpha;
}

// One test, since every test is a process of its own and the curve is the dear part.
TEST(LongCurve, TwoLayersAgreeWithPlainStateEvolutionAndWithTheFreeEntropysIdentities) {
  EXPECT_TRUE(two_layer_curve().met_tolerance);
  for (const CurvePoint& p : two_layer_curve().points) {
    EXPECT_LE(
        p.error_bayes.value,
        p.error_plugin.value + far_out * std::hypot(p.error_bayes.error, p.error_plugin.error))
        << p.alpha;
    EXPECT_TRUE(p.status.converged()) << p.alpha << " residual " << p.status.residual;
  }
  EXPECT_EQ(two_layer_point(0.1).overlap[0].value, 0.0);
  EXPECT_EQ(two_layer_point(0.1).overlap[1].value, 0.0);
  for (const double alpha : {0.3, 0.5}) {
    EXPECT_EQ(two_layer_point(alpha).overlap[0].value, 0.0);
    EXPECT_EQ(two_layer_point(alpha).overlap[0].error, 0.0);
    EXPECT_GT(two_layer_point(alpha).overlap[1].value, 0.05);
  }
  EXPECT_GT(two_layer_point(0.88).overlap[0].value, 0.05);
  for (const double alpha : {1.05, 1.2}) {
    const CurvePoint& p = two_layer_point(alpha);
    EXPECT_EQ(p.overlap[0].value, 1.0);
    EXPECT_EQ(p.overlap[1].value, 1.0);
    EXPECT_EQ(p.error_plugin.value, 0.0);
    EXPECT_EQ(p.error_bayes.value, 0.0);
    EXPECT_EQ(p.free_entropy.value, HUGE_VAL);
  }
  expect_plain_state_evolution_agrees(0.5, {0.9, 0.4}, {0.5, 0.1});
  // From V_2 near 1 layer 1 would first be forgotten and then wait at the saddle Q_1 = 0.
  expect_plain_state_evolution_agrees(0.88, {0.6, 0.008}, {0.35, 0.005});
  expect_envelope_theorem(0.48, 0.5, 0.52);
  expect_envelope_theorem(0.86, 0.88, 0.9);
  for (const double alpha : {0.3, 0.5, 0.88}) expect_direct_evidence(alpha);
}

/// Prediction errors of two layers at skip 1 and given overlaps, the same in every replicate.
PredictionErrors errors_at(double q1, double q2) {
  const std::vector<Replicates> variance = {Replicates(16, 1.0 - q1), Replicates(16, 1.0 - q2)};
  return prediction_errors(DeepAttention(), variance, 16384, 3, two_threads());
}

TEST(PredictionErrors, AtOverlapZeroAreTheKnownOnes) {
  // 0.38691 and 0.30244 from a separate program (last digits good to one).
  const PredictionErrors e = errors_at(0.0, 0.0);
  const Estimate plugin = numerics::reduce(e.plugin);
  const Estimate bayes = numerics::reduce(e.bayes);
  EXPECT_NEAR(plugin.value, 0.38691, far_out * plugin.error + 2e-5);
  EXPECT_NEAR(bayes.value, 0.30244, far_out * bayes.error + 2e-5);
  EXPECT_LT(plugin.error, 5e-4);
  EXPECT_LT(bayes.error, 5e-4);
}

TEST(PredictionErrors, VanishAtPerfectOverlapAndOnlyThere) {
  const PredictionErrors perfect = errors_at(1.0, 1.0);
  EXPECT_EQ(numerics::mean(perfect.plugin), 0.0);
  EXPECT_EQ(numerics::mean(perfect.bayes), 0.0);
  EXPECT_GT(numerics::mean(errors_at(0.99, 1.0).bayes), 0.0);
  EXPECT_GT(numerics::mean(errors_at(1.0, 0.99).bayes), 0.0);
}

TEST(PredictionErrors, BayesIsBelowPlugInEverywhere) {
  for (const double q1 : {0.0, 0.5, 0.95}) {
    for (const double q2 : {0.0, 0.5, 0.95}) {
      const PredictionErrors e = errors_at(q1, q2);
      Replicates gap(e.plugin.size());
      for (std::size_t r = 0; r < gap.size(); ++r) gap[r] = e.plugin[r] - e.bayes[r];
      const Estimate g = numerics::reduce(gap);
      EXPECT_GE(g.value, -far_out * g.error) << q1 << " " << q2;
    }
  }
}

}  // namespace
}  // namespace onset::smi
