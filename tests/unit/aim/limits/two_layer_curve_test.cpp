#include "aim/limits/two_layer_curve.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stop_token>
#include <thread>
#include <vector>

#include "aim/limits/curve.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

/// Deviations of 15 degrees of freedom beyond this happen once in 3e5 tests.
constexpr double many_errors = 7.0;

AttentionIndexed two_layers(double skip = 1.0) {
  AttentionIndexed model;
  model.prior = PriorKind::wigner;
  model.layers = 2;
  model.skip = skip;
  return model;
}

/// One number of every replicate.
template <class Number>
Estimate over_replicates(const TwoLayers& network, const Number& number) {
  std::vector<double> values;
  for (std::uint64_t r = 0; r < numerics::default_replicates; ++r) {
    values.push_back(number(TwoLayerChannel(network, 1, r)));
  }
  return numerics::reduce(values);
}

/// Counting: for small errors a label fixes two combinations of what is unknown, whatever the ratio
/// of the errors [aim 45].
TEST(TwoLayerChannel, SharesTwoEquationsAmongTheLayers) {
  for (const PerLayer v : {PerLayer{1e-6, 1e-6}, PerLayer{1e-6, 4e-6}}) {
    const Estimate sum = over_replicates({}, [&](const TwoLayerChannel& channel) {
      const TwoLayerInformation known = channel.at(v);
      return known.layer[0] + known.layer[1];
    });
    constexpr double next_order = 1e-2;  // of the standard deviation 1e-3
    EXPECT_NEAR(sum.value, 2.0, many_errors * sum.error + next_order);
  }
}

/// d E log Z / d V = -E_hat/(2 V): the density and the means of the posterior are the same thing
/// only if all of them are right.
TEST(LongTwoLayerChannel, InformationIsTheSlopeOfTheMeanLogarithm) {
  const PerLayer v{0.6, 0.4};
  constexpr double step = 0.02;
  for (std::size_t l = 0; l < 2; ++l) {
    const Estimate difference = over_replicates({}, [&](const TwoLayerChannel& channel) {
      PerLayer up = v;
      PerLayer down = v;
      up[l] += step;
      down[l] -= step;
      const double slope =
          (channel.at(up).log_density - channel.at(down).log_density) / (2.0 * step);
      return slope + channel.at(v).layer[l] / (2.0 * v[l]);
    });
    constexpr double third_derivative = 5e-3;  // step^2/6 times some dozens
    EXPECT_NEAR(difference.value, 0.0, many_errors * difference.error + third_derivative);
  }
}

/// A strong skip connection hides the first layer: the second is one Wigner matrix behind a label,
/// and its error 1 - 4 alpha.
TEST(LongTwoLayerCurve, IsThatOfOneLayerBehindAStrongSkipConnection) {
  AttentionIndexed alone = two_layers();
  alone.layers = 1;
  const std::vector<double> alphas{0.2};
  const auto deep = two_layer_curve(two_layers(1000.0), alphas, 1, {});
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    const double expected = StateEvolution(alone, 1, {}).at(alphas[i]).mmse.value;
    constexpr double what_is_seen = 1e-3;  // of the first layer, a part of order 1/skip
    EXPECT_NEAR(deep[i].mmse[1].value, expected,
                many_errors * deep[i].mmse[1].error + what_is_seen);
    EXPECT_NEAR(deep[i].mmse[0].value, 1.0, what_is_seen);
  }
}

TEST(LongTwoLayerCurve, IsKnownToAThousandthAndFallsToPerfectRecovery) {
  const std::vector<double> alphas{0.0, 0.3, 0.45, 0.5};
  const auto points = two_layer_curve(two_layers(), alphas, 1, {});
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_TRUE(points[i].found()) << alphas[i];
    EXPECT_FALSE(points[i].hard) << alphas[i];
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_LT(points[i].mmse[l].error, 1e-3);
      if (i > 0) {
        EXPECT_LT(points[i].mmse[l].value, points[i - 1].mmse[l].value + 1e-12);
      }
    }
  }
  EXPECT_EQ(points[0].mmse[0].value, 1.0);
  EXPECT_EQ(points[0].free_entropy->value, 0.0);
  EXPECT_EQ(two_layer_recovery(two_layers()), 0.5);
  EXPECT_EQ(points[3].mmse[0].value, 0.0);
  EXPECT_EQ(points[3].mmse[1].value, 0.0);
  EXPECT_FALSE(points[3].free_entropy);
}

/// V = 1 - 2 alpha E_hat(V), and the free entropy is alpha E log Z against what V costs, counted
/// from nothing known.
TEST(LongTwoLayerCurve, SolvesItsEquation) {
  const double alpha = 0.3;
  const TwoLayerPoint point = two_layer_curve(two_layers(), std::vector{alpha}, 1, {})[0];
  const PerLayer v{point.mmse[0].value, point.mmse[1].value};
  for (std::size_t l = 0; l < 2; ++l) {
    const Estimate miss = over_replicates({}, [&](const TwoLayerChannel& channel) {
      return 1.0 - 2.0 * alpha * channel.at(v).layer[l] - v[l];
    });
    EXPECT_NEAR(miss.value, 0.0, many_errors * miss.error);
    EXPECT_NEAR(point.conjugate[l].value, 1.0 / v[l] - 1.0, tolerance::hundreds_of_roundings);
  }
  const double cost = 0.25 * (2.0 - v[0] - v[1] + std::log(v[0] * v[1]));
  const Estimate gain = over_replicates({}, [&](const TwoLayerChannel& channel) {
    return alpha * (channel.at(v).log_density - channel.at({1.0, 1.0}).log_density);
  });
  // Stationary in V: what errors of V add is of second order.
  EXPECT_NEAR(point.free_entropy->value, gain.value + cost,
              many_errors * std::hypot(gain.error, point.free_entropy->error));
}

TEST(LongTwoLayerCurve, IsTheSameForAnyNumberOfThreads) {
  Context three;
  three.threads = 3;
  const std::vector<double> alphas{0.05};
  const auto one = two_layer_curve(two_layers(), alphas, 1, {});
  const auto other = two_layer_curve(two_layers(), alphas, 1, three);
  EXPECT_EQ(one[0].mmse[0].value, other[0].mmse[0].value);
  EXPECT_EQ(one[0].free_entropy->value, other[0].free_entropy->value);
}

// A fixed point takes half a second, and far more on a busy machine: the stop is asked for within.
TEST(TwoLayerCurve, StopsWithinAFixedPointAtAnInterrupt) {
  std::stop_source source;
  Context context;
  context.stop = source.get_token();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
  });
  const std::vector<double> alphas{0.45};
  EXPECT_THROW((void)two_layer_curve(two_layers(), alphas, 1, context), Interrupted);
}

TEST(TwoLayerModel, WhatDoesNotCloseIsRefused) {
  EXPECT_NO_THROW(two_layers().validate());
  const auto refused = [](auto change) {
    AttentionIndexed model = two_layers();
    change(model);
    EXPECT_THROW(model.validate(), Refused);
  };
  refused([](AttentionIndexed& m) { m.prior = PriorKind::wishart; });
  refused([](AttentionIndexed& m) { m.layers = 3; });
  refused([](AttentionIndexed& m) { m.tokens = 3; });
  refused([](AttentionIndexed& m) { m.channel = &hardmax_channel(); });
  refused([](AttentionIndexed& m) { m.noise_variance = 0.1; });
  EXPECT_THROW((void)StateEvolution(two_layers(), 1, {}), Refused);
  AttentionIndexed negative = two_layers(-1.0);
  EXPECT_THROW(negative.validate(), InvalidArgument);
}

}  // namespace
}  // namespace onset::aim
