#include "smi/limits/potential.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "onset/core/error.hpp"
#include "smi/limits/typed/label_law.hpp"
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

/// Standard errors (16 replicates) beyond which an agreement fails: false alarms are rarer than
/// 1e-6.
constexpr double many_errors = 8.0;

/// Overlaps 0, 1/count, .. of one direction.
OverlapGrid even_grid(int count) {
  OverlapGrid grid{{{}}, false};
  for (int k = 0; k < count; ++k) {
    grid.values[0].push_back(static_cast<double>(k) / static_cast<double>(count));
  }
  return grid;
}

/// Phi of y = z^2 by the trapezoid rule over omega = sqrt(Q) eta and the field. The label's density
/// has 1/|2 z|, and log|z| the mean -(gamma + log 2) / 2.
double square_potential(double q, double alpha) {
  constexpr double step = 0.05;
  constexpr double reach = 8.0;
  const double v = 1.0 - q;
  double sum = 0.0;
  for (double eta = -reach; eta <= reach; eta += step) {
    for (double xi = -reach; xi <= reach; xi += step) {
      const double omega = std::sqrt(q) * eta;
      const double z = omega + std::sqrt(v) * xi;
      const double other = std::log1p(std::exp(-std::abs(2.0 * z * omega / v)));
      const double larger = -0.5 * std::pow(std::abs(z) - std::abs(omega), 2.0) / v;
      sum += std::exp(-0.5 * (eta * eta + xi * xi)) * (larger + other);
    }
  }
  const double psi = sum * step * step / (2.0 * std::numbers::pi) -
                     0.5 * std::log(2.0 * std::numbers::pi * v) - std::numbers::ln2 +
                     0.5 * (std::numbers::egamma + std::numbers::ln2);
  return alpha * psi + 0.5 * (q + std::log(v));
}

// log|z1| scatters by more than overlaps change the free entropy: what is sampled is the rest of it
// [links 19]. At alpha = 0.6 the maximum is next to 0, and at 0.8 it is at 0.216.
TEST(SmiPotential, OfATypedSquareIsMeasuredFromItsLabelsLaw) {
  const TypedLink link("z1^2", 0.0);
  const auto model = typed_model(std::make_shared<TypedLink>("z1^2", 0.0), 1);
  const std::vector<double> alphas = {0.6, 0.8};
  const OverlapGrid grid = even_grid(5);
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    ChannelOptions options;
    options.seed = seed;
    options.label_law = label_log_density(link, seed, {});
    const auto all = potential(Channel(*model, options), grid, alphas, with_threads(1));
    for (std::size_t a = 0; a < alphas.size(); ++a) {
      for (const PotentialPoint& point : all[a]) {
        const double exact = square_potential(point.overlap[0], alphas[a]);
        EXPECT_NEAR(point.free_entropy.value, exact, many_errors * point.free_entropy.error)
            << point.overlap[0];
        EXPECT_LT(point.free_entropy.error, 5e-4);  // it was 1.5e-3
      }
    }
    EXPECT_EQ(all[0][0].maximum, Maximum::global);
    EXPECT_EQ(all[1][0].maximum, Maximum::none);
    EXPECT_EQ(all[1][1].maximum, Maximum::global);
  }
}

// The lines that miss a part of a level set have the same errors in log Z and in second moments,
// which are ratios and controls. Half a thousandth of their bias would be seen here.
TEST(SmiPotential, RatiosThatAreControlsLeaveNoBias) {
  const auto model = typed_model(std::make_shared<TypedLink>("sign(z1)*z2", 0.0), 1);
  ChannelOptions options;
  options.nodes = 128;
  options.points = 128;
  const std::vector<double> nothing_known = {1.0, 1.0};
  const ChannelInformation info = Channel(*model, options).at(nothing_known, with_threads(1));
  const Estimate scatter = numerics::reduce(info.log_evidence);
  EXPECT_NEAR(scatter.value, -0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e),
              many_errors * scatter.error);
  EXPECT_LT(scatter.error, 1e-4);
}

// Scatter makes a chain of small peaks of a curve that has one maximum: none of them is claimed,
// and all that may be the largest are unresolved.
TEST(SmiPotential, NoMaximumIsClaimedWhereScatterMakesMany) {
  const auto model = typed_model(std::make_shared<TypedLink>("z1^2", 0.0), 1);
  ChannelOptions options;
  options.points = 256;
  const std::vector<double> alphas = {0.6};
  const auto points =
      potential(Channel(*model, options), even_grid(20), alphas, with_threads(1))[0];
  int peaks = 0;
  int unresolved = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double own = points[k].free_entropy.value;
    const bool is_inside = k > 0 && k + 1 < points.size();
    if (is_inside && own > points[k - 1].free_entropy.value &&
        own > points[k + 1].free_entropy.value) {
      ++peaks;
    }
    if (points[k].maximum == Maximum::unresolved) ++unresolved;
    EXPECT_NE(points[k].maximum, Maximum::global);
    EXPECT_NE(points[k].maximum, Maximum::local);
  }
  EXPECT_GT(peaks, 1);
  EXPECT_GT(unresolved, 1);
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
