#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aim/model/channel.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

TEST(AimHardmaxChannel, GradientIsTheSlopeOfTheEvidence) {
  const auto model = model_of("hardmax", 2);
  Dataset data;
  data.tokens = 2;
  data.dim = 2;
  data.samples = 4;
  data.inputs.assign(16, 0.0);
  data.labels = {0, 0, 0, 1, 1, 0, 1, 1};
  const auto output = model.channel->output(model, data);
  const std::vector<double> variance{0.8, 0.35, 0.6};
  const std::vector<double> omega{0.3, -0.1, -0.4};
  for (std::size_t s = 0; s < 4; ++s) {
    const double s1 = data.labels[2 * s] == 0.0 ? 1.0 : -1.0;
    const double s2 = data.labels[2 * s + 1] == 1.0 ? 1.0 : -1.0;
    const auto evidence = [&](const std::vector<double>& w) {
      const double r1 = std::sqrt(variance[0] + variance[1]);
      const double r2 = std::sqrt(variance[2] + variance[1]);
      return std::log(orthant(s1 * (w[0] - w[1]) / r1, s2 * (w[2] - w[1]) / r2,
                              s1 * s2 * variance[1] / (r1 * r2))
                          .probability);
    };
    std::vector<double> g(3);
    output->gradient(s, omega, variance, g);
    for (std::size_t i = 0; i < 3; ++i) {
      auto up = omega;
      auto down = omega;
      up[i] += 1e-5;
      down[i] -= 1e-5;
      EXPECT_NEAR(g[i], (evidence(up) - evidence(down)) / 2e-5, tolerance::difference_quotient);
    }
  }
}

}  // namespace
}  // namespace onset::aim
