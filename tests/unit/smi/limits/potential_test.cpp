#include "smi/limits/potential.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "onset/core/error.hpp"
#include "smi/model/links.hpp"
#include "smi/model/typed/typed_model.hpp"
#include "support/channel_comparisons.hpp"
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

// Scatter makes a chain of small peaks of a curve that has one maximum: they are no maxima.
TEST(SmiPotential, OneMaximumIsClaimedWhereScatterMakesMany) {
  const auto model = typed_model(std::make_shared<TypedLink>("z1^2", 0.0), 1);
  ChannelOptions options;
  options.points = 256;
  OverlapGrid grid{{{}}, false};
  for (int k = 0; k < 20; ++k) grid.values[0].push_back(0.05 * k);
  const std::vector<double> alphas = {1.0};
  const auto points = potential(Channel(*model, options), grid, alphas, with_threads(1))[0];
  int peaks = 0;
  int claimed = 0;
  for (std::size_t k = 1; k + 1 < points.size(); ++k) {
    const double own = points[k].free_entropy.value;
    if (own > points[k - 1].free_entropy.value && own > points[k + 1].free_entropy.value) ++peaks;
    if (points[k].maximum != Maximum::none) ++claimed;
  }
  EXPECT_GT(peaks, 1);
  EXPECT_EQ(claimed, 1);
}

// y = z^2 at alpha = 1.1: the maximum of small overlaps, and the way up to exact recovery.
TEST(SmiPotential, ADipBeyondErrorsPartsTwoMaxima) {
  const auto model = link_model("square");
  ChannelOptions options;
  options.points = 1024;
  const OverlapGrid grid{{{0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.999}}, false};
  const std::vector<double> alphas = {1.1};
  const auto points = potential(Channel(*model, options), grid, alphas, with_threads(1))[0];
  EXPECT_EQ(points[2].maximum, Maximum::local);
  EXPECT_EQ(points.back().maximum, Maximum::global);
  for (const std::size_t k : {0U, 1U, 3U, 4U, 5U}) EXPECT_EQ(points[k].maximum, Maximum::none);
}

// Far below all thresholds nothing is known of either layer: of a grid over both, that is the one
// maximum, whichever axis leads away from it.
TEST(SmiPotential, OfAGridOverTwoBlocksEveryAxisLeadsDown) {
  ChannelOptions options;
  options.points = 64;
  const Channel channel(deep_attention(2, 2, {1.0}), options);
  const OverlapGrid grid{{{0.0, 0.4, 0.8}, {0.0, 0.3, 0.6, 0.9}}, false};
  const std::vector<double> alphas = {0.02};
  const auto points = potential(channel, grid, alphas, with_threads(1))[0];
  ASSERT_EQ(points.size(), 12U);
  EXPECT_EQ(points.front().maximum, Maximum::global);
  for (std::size_t k = 1; k < points.size(); ++k) EXPECT_EQ(points[k].maximum, Maximum::none) << k;
}

TEST(SmiPotential, ListsThatAreTakenTogetherAreEquallyLong) {
  EXPECT_THROW((OverlapGrid{{{0.0, 0.4}, {0.0}}, true}.validate()), InvalidArgument);
  EXPECT_NO_THROW((OverlapGrid{{{0.0, 0.4}, {0.0, 0.3}}, true}.validate()));
  EXPECT_NO_THROW((OverlapGrid{{{0.0, 0.4}, {0.0}}, false}.validate()));
}

}  // namespace
}  // namespace onset::smi
