// Are the stated standard errors right? Over many seeds, deviations from the truth (or from a far
// more accurate run) in units of the stated error must follow Student's t with 15 degrees of
// freedom: too many large ones, and the errors are too small; too few, and they are too large.
//
// ONSET_TEST_SCALE (default 1) multiplies the number of seeds.

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>

#include "onset/numerics/roots.hpp"
#include "onset/smi/limits/curve.hpp"
#include "onset/smi/limits/fixed_points.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// Odds of a false alarm of one binomial test; the some 20 of this file make 1e-6 together.
constexpr double false_alarm = 5e-8;

constexpr double degrees_of_freedom = numerics::default_replicates - 1;

int scaled(int seeds) {
  const char* scale = std::getenv("ONSET_TEST_SCALE");
  const int factor = scale == nullptr ? 1 : std::atoi(scale);
  return seeds * std::max(1, factor);
}

Context two_threads() {
  Context context;
  context.threads = 2;
  return context;
}

enum class Sides {
  both,       // pure scatter: neither too small nor too large
  not_small,  // a bound on a systematic error is part of the stated one
};

/// Deviations over stated errors, one per seed.
void expect_student_t(const std::vector<double>& t, Sides sides, const std::string& what) {
  const boost::math::students_t student(degrees_of_freedom);
  const auto n = static_cast<double>(t.size());
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
    const auto truth = Channel(model, fine).at(variance, two_threads());
    std::vector<std::vector<double>> t(2);
    for (int seed = 1; seed <= scaled(150); ++seed) {
      ChannelOptions rough;
      rough.points = 64;
      rough.nodes = 128;
      rough.seed = static_cast<std::uint64_t>(seed);
      const auto info = Channel(model, rough).at(variance, two_threads());
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
        numerics::mean(Channel(model, fine).at(std::vector{v}, two_threads()).gain[0]);
    std::vector<double> t;
    for (int seed = 1; seed <= scaled(200); ++seed) {
      ChannelOptions rough;
      rough.points = 64;
      rough.seed = static_cast<std::uint64_t>(seed);
      const Estimate e =
          numerics::reduce(Channel(model, rough).at(std::vector{v}, two_threads()).gain[0]);
      t.push_back((e.value - truth) / e.error);
    }
    expect_student_t(t, Sides::both, "V = " + std::to_string(v));
  }
}

/// The fixed point of one layer of two tokens at this sample ratio, by quadrature [smi 15].
double exact_overlap(double alpha) {
  const auto gain = [](double v) {
    const double q = 1.0 - v;
    constexpr double log_step = 0.05;
    double sum = 0.0;
    for (double t = -12.0; t < std::log(12.0); t += log_step) {
      const double rho = std::exp(t);
      const double slope = rho * std::sqrt(q / v);
      const double step = std::fmin(0.2, 0.25 / slope);
      double inner = 0.0;
      for (double xi = -9.0; xi < 9.0; xi += step) {
        const double density = std::exp(-0.5 * xi * xi) / std::sqrt(2.0 * std::numbers::pi);
        inner += step * density * 2.0 / (1.0 + std::exp(2.0 * (q * rho * rho / v + slope * xi)));
      }
      sum += log_step * std::exp(2.0 * t - 0.5 * rho * rho) * rho * rho * inner;
    }
    return 2.0 - sum / v;
  };
  const auto residual = [&](double q) { return q - alpha * gain(1.0 - q); };
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
    const Curve curve = bayes_curve(model, alphas, options, two_threads());
    for (std::size_t k = 0; k < alphas.size(); ++k) {
      const Estimate q = curve.points[k].overlap[0];
      t[k].push_back((q.value - truth[k]) / q.error);
    }
  }
  for (std::size_t k = 0; k < alphas.size(); ++k) {
    expect_student_t(t[k], Sides::not_small, "alpha " + std::to_string(alphas[k]));
  }
}

/// The threshold of layer 1 at skip 1, as the root that the staircase looks for [smi 20], with few
/// points.
Estimate second_threshold(std::size_t points, int nodes, std::uint64_t seed) {
  ChannelOptions rule;
  rule.points = points;
  rule.nodes = nodes;
  rule.seed = seed;
  const Channel channel(DeepAttention(), rule);
  double bias = 0.0;
  const auto residual = [&](double depth) {
    const FixedPointNode node =
        solve_fixed_point(channel, {false, true}, depth, {0.0, depth}, two_threads());
    Replicates log_growth = node.log_alpha;
    for (std::size_t r = 0; r < log_growth.size(); ++r) {
      log_growth[r] += std::log(node.growth[0][r]);
    }
    bias = node.relative_bias + node.growth_bias[0];
    return std::vector<Replicates>{log_growth, node.log_alpha};
  };
  const auto root = numerics::replicated_root(residual, 3.4, 3.9, {0.02, 12});
  EXPECT_TRUE(root.status.converged()) << seed;
  const Replicates alpha = numerics::map(root.rows[0], [](double x) { return std::exp(x); });
  return numerics::reduce(alpha, bias * numerics::mean(alpha));
}

TEST(LongCoverage, TheSecondThresholdIsWithinItsError) {
  const Estimate truth = second_threshold(4096, 256, 1000);
  std::vector<double> t;
  for (int seed = 1; seed <= scaled(30); ++seed) {
    const Estimate e = second_threshold(128, 128, static_cast<std::uint64_t>(seed));
    t.push_back((e.value - truth.value) / std::hypot(e.error, truth.error));
  }
  expect_student_t(t, Sides::not_small, "second threshold");
}

}  // namespace
}  // namespace onset::smi
