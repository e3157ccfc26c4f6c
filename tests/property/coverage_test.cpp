// Are the stated standard errors right? Over many seeds, deviations from the truth (or from a far
// more accurate run) in units of the stated error must follow Student's t with 15 degrees of
// freedom: too many large ones, and the errors are too small; too few, and they are too large.
//
// ONSET_TEST_SCALE (default 1) multiplies the number of seeds.

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <string>

#include "numerics/solvers/roots.hpp"
#include "smi/limits/curve.hpp"
#include "smi/model/attention_model.hpp"
#include "support/contexts.hpp"
#include "support/one_layer_gain.hpp"
#include "support/scale.hpp"

namespace onset::smi {
namespace {

using testing::scaled;
using testing::with_threads;

/// Odds of a false alarm of all comparisons of this file together (seeds are fixed), and of one.
constexpr double all_false_alarms = 1e-6;
constexpr double comparisons = 70.0;
constexpr double false_alarm = all_false_alarms / comparisons;

constexpr double degrees_of_freedom = numerics::default_replicates - 1;

enum class Sides {
  both,       // pure scatter: neither too small nor too large
  not_small,  // a bound on a systematic error is part of the stated one
};

/// Deviations over stated errors, one per seed.
void expect_student_t(const std::vector<double>& t, Sides sides, const std::string& what) {
  const boost::math::students_t student(degrees_of_freedom);
  const auto n = static_cast<double>(t.size());
  // Fisher: -2 sum log p follows chi squared with 2 n degrees of freedom. Where 30 seeds are too
  // few for the counts below to see errors stated by half, this does.
  double fisher = 0.0;
  for (const double x : t) {
    fisher -= 2.0 * std::log(2.0 * boost::math::cdf(boost::math::complement(student, std::abs(x))));
  }
  const boost::math::chi_squared evidence(2.0 * n);
  EXPECT_GT(boost::math::cdf(boost::math::complement(evidence, fisher)), false_alarm)
      << what << ": errors too small; -2 sum log p = " << fisher << " of " << n << " seeds";
  for (const double level : {0.5, 0.9, 0.99}) {
    const double limit = boost::math::quantile(student, 0.5 + 0.5 * level);
    double inside = 0.0;
    for (const double x : t) inside += std::abs(x) < limit ? 1.0 : 0.0;
    const boost::math::binomial count(n, level);
    // P(at most as many inside as seen), and P(at least as many).
    EXPECT_GT(boost::math::cdf(count, inside), false_alarm)
        << what << ": errors too small; " << inside << " of " << n << " within level " << level;
    if (sides == Sides::both && inside > 0.0) {
      EXPECT_GT(boost::math::cdf(boost::math::complement(count, inside - 1.0)), false_alarm)
          << what << ": errors too large; " << inside << " of " << n << " within level " << level;
    }
  }
}

TEST(LongCoverage, TheErrorsOfAChannelsGainsAndGrowthAreStudentT) {
  const DeepAttention model;  // two layers of two tokens, skip 1
  for (const auto& variance : {std::vector{0.6, 0.2}, std::vector{1.0, 0.3}}) {
    ChannelOptions fine;
    fine.points = 8192;
    fine.seed = 1000;
    const auto truth = Channel(model, fine).at(variance, with_threads(2));
    std::vector<std::vector<double>> t(2);
    for (int seed = 1; seed <= scaled(150); ++seed) {
      ChannelOptions rough;
      rough.points = 64;
      rough.nodes = 128;
      rough.seed = static_cast<std::uint64_t>(seed);
      const auto info = Channel(model, rough).at(variance, with_threads(2));
      for (std::size_t l = 0; l < 2; ++l) {
        const bool learned = variance[l] < 1.0;
        const Estimate e = learned ? numerics::reduce(info.gain[l], info.gain_bias[l])
                                   : numerics::reduce(info.growth[l], info.growth_bias[l]);
        const double expected = numerics::mean(learned ? truth.gain[l] : truth.growth[l]);
        t[l].push_back((e.value - expected) / e.error);
      }
    }
    for (std::size_t l = 0; l < 2; ++l) {
      // The bound on the bias is far below the scatter of 64 points here, so that both sides count.
      expect_student_t(t[l], Sides::both,
                       "V1 = " + std::to_string(variance[0]) + ", layer " + std::to_string(l + 1));
    }
  }
}

TEST(LongCoverage, TheErrorOfOneLayersGainIsStudentT) {
  DeepAttention model;
  model.layers = 1;
  ChannelOptions fine;
  fine.points = 1 << 15;
  fine.seed = 1000;
  for (const double v : {0.8, 0.1}) {
    const double truth =
        numerics::mean(Channel(model, fine).at(std::vector{v}, with_threads(2)).gain[0]);
    std::vector<double> t;
    for (int seed = 1; seed <= scaled(200); ++seed) {
      ChannelOptions rough;
      rough.points = 64;
      rough.seed = static_cast<std::uint64_t>(seed);
      const Estimate e =
          numerics::reduce(Channel(model, rough).at(std::vector{v}, with_threads(2)).gain[0]);
      t.push_back((e.value - truth) / e.error);
    }
    expect_student_t(t, Sides::both, "V = " + std::to_string(v));
  }
}

/// The fixed point of one layer of two tokens at this sample ratio, by quadrature [smi 15].
double exact_overlap(double alpha) {
  const auto residual = [&](double q) { return q - alpha * testing::one_layer_gain(2, 1.0 - q); };
  return numerics::bracketed_root(residual, 0.02, 0.999, {1e-7, 100}).x;
}

TEST(LongCoverage, TheOverlapsOfOneLayersCurveAreWithinTheirErrors) {
  DeepAttention model;
  model.layers = 1;
  const std::vector<double> alphas = {0.22, 0.3, 0.42};
  std::vector<double> truth;
  for (const double alpha : alphas) truth.push_back(exact_overlap(alpha));
  std::vector<std::vector<double>> t(alphas.size());
  for (int seed = 1; seed <= scaled(40); ++seed) {
    CurveOptions options;
    options.tolerance = 0.05;
    options.error_points = 16;
    options.seed = static_cast<std::uint64_t>(seed);
    const BayesCurve curve = bayes_curve(*attention_model(model), alphas, options, with_threads(2));
    for (std::size_t k = 0; k < alphas.size(); ++k) {
      const Estimate q = curve.points[k].overlap[0];
      t[k].push_back((q.value - truth[k]) / q.error);
    }
  }
  for (std::size_t k = 0; k < alphas.size(); ++k) {
    expect_student_t(t[k], Sides::not_small, "alpha " + std::to_string(alphas[k]));
  }
}

/// A layer's overlap at a sample ratio, read off a stage's curve of fixed points as bayes_curve
/// does, with the scatter of the replicates as its error.
Estimate overlap_at(double alpha, const StaircaseStep& stage, std::size_t layer) {
  numerics::Replicates overlap;
  for (std::size_t r = 0; r < stage.start.log_alpha.size(); ++r) {
    const auto points = stage.branch.stable_points(r, std::log(alpha));
    EXPECT_FALSE(points.empty()) << "replicate " << r << " at alpha " << alpha;
    if (!points.empty()) overlap.push_back(-std::expm1(-points.front().log_precision[layer]));
  }
  return numerics::reduce(overlap);
}

/// What a staircase of two layers of two tokens at skip 1 says: the threshold of layer 1, an
/// overlap where layer 2 alone is learned and both where both are.
std::vector<Estimate> two_layer_numbers(std::uint64_t seed) {
  StaircaseOptions options;  // as coarse as it can be: the test is about errors, not about numbers
  options.tolerance = 0.1;
  options.first_tolerance = 1e-3;
  options.root_points = 256;
  options.trace_points = 128;
  options.trace_spacing = 0.2;
  options.seed = seed;
  const Staircase stairs = staircase(*attention_model(DeepAttention()), options, with_threads(2));
  return {stairs.steps[1].alpha, overlap_at(0.4, stairs.steps[0], 1),
          overlap_at(0.85, stairs.steps[1], 0), overlap_at(0.85, stairs.steps[1], 1)};
}

TEST(LongCoverage, TheSecondThresholdAndTheOverlapsOfTwoLayersAreWithinTheirErrors) {
  // The same of a run with seed 1000, a tolerance of 1e-3, 2048 points and 24 nodes on the
  // branches.
  const std::vector<Estimate> truth = {
      {0.72026218, 0.00089}, {0.48851755, 0.00173}, {0.38513462, 0.00696}, {0.9906454, 0.00015}};
  const std::vector<std::string> what = {"second threshold", "Q22 at 0.4", "Q11 at 0.85",
                                         "Q22 at 0.85"};
  std::vector<std::vector<double>> t(truth.size());
  for (int seed = 1; seed <= scaled(32); ++seed) {
    const auto numbers = two_layer_numbers(static_cast<std::uint64_t>(seed));
    for (std::size_t k = 0; k < truth.size(); ++k) {
      t[k].push_back((numbers[k].value - truth[k].value) /
                     std::hypot(numbers[k].error, truth[k].error));
    }
  }
  for (std::size_t k = 0; k < truth.size(); ++k) expect_student_t(t[k], Sides::not_small, what[k]);
}

}  // namespace
}  // namespace onset::smi
