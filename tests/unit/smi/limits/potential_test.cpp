#include "smi/limits/potential.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "smi/model/links.hpp"
#include "support/contexts.hpp"

namespace onset::smi {
namespace {

using testing::with_threads;

TEST(SmiPotential, IsExactWhereNothingIsKnownWhateverTheSeed) {
  // y = z^2: log Z = log 2 + log N(z) is a combination of controls, whose expectations are known.
  const auto model = link_model("square");
  const double exact = std::numbers::ln2 - 0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e);
  constexpr double rounding = 1e-14;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    ChannelOptions options;
    options.points = 64;
    options.seed = seed;
    const Channel channel(*model, options);
    const std::vector<double> alphas = {1.0};
    const auto points = potential(channel, {{{0.0, 0.5}}, false}, alphas, with_threads(1))[0];
    ASSERT_NEAR(points[0].free_entropy.value, exact, rounding) << seed;
    ASSERT_EQ(points[0].free_entropy.error, 0.0) << seed;
    ASSERT_GT(points[1].free_entropy.error, 0.0) << seed;
  }
}

}  // namespace
}  // namespace onset::smi
