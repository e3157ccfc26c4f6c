#include "smi/limits/typed/label_bins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <ostream>
#include <string>

#include "smi/limits/typed/typed_branch.hpp"
#include "smi/limits/typed/typed_checks.hpp"
#include "smi/limits/typed/verdict.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// Standard errors, from 16 units, beyond which an agreement fails: false alarms are rarer than
/// 1e-6 a comparison.
constexpr double many_errors = 8.0;

Estimate growth_of(const TypedLink& link, double refinement = 1.0) {
  TypedChannelOptions options;
  options.refinement = refinement;
  const auto averages = typed_channel_at_zero(link, options, {});
  return estimate(growth_rates(averages), averages);
}

struct FourFields {
  std::string link;
  double alpha;

  friend void PrintTo(const FourFields& f, std::ostream* out) { *out << f.link; }
};

class BinnedThresholds : public testing::TestWithParam<FourFields> {};

TEST_P(BinnedThresholds, AreThoseOfTheClosedForm) {
  const auto& [text, alpha] = GetParam();
  const TypedLink link(text, 0.0);
  ASSERT_TRUE(needs_bins(link));
  const Estimate growth = growth_of(link);
  EXPECT_NEAR(growth.value, 1.0 / alpha, many_errors * growth.error);
  // A first look is what the usual tolerance asks for.
  EXPECT_LT(growth.error * alpha, 1e-3);
}

// [links 8]; given relu(z1*z2+z3*z4) = 0 the sum is negative, and T is -1/2 along (z1+z2)/sqrt2.
// z1^2 and a sign: one-dimensional integrals over z1, on whose pieces T jumps.
INSTANTIATE_TEST_SUITE_P(
    Links, BinnedThresholds,
    testing::Values(FourFields{"z1*z2+z3*z4", 4.0 / 3.0},
                    FourFields{"relu(z1*z2+z3*z4)", 4.0 / 3.0},
                    FourFields{"z1_1*z2_1+z1_2*z2_2", 2.0 / 3.0},
                    FourFields{"z1^2+z2^2+z3^2+z4^2", 2.0}, FourFields{"z1/z2+z3/z4", 4.0},
                    FourFields{"z1*z2*z3*z4", 3.7250774241},
                    FourFields{"z1^2+sign(z2*z3*z4)", 0.5751663523},
                    FourFields{"sign(z1*z2)+sign(z3*z4)", std::numbers::pi* std::numbers::pi / 2}));

// The sign of a product of three fields shows nothing of degree two, whatever noise it is seen
// with.
TEST(LabelBins, GrowthThatIsAbsentIsCalledAbsent) {
  constexpr double refinement = 4.0;
  EXPECT_EQ(verdict(growth_of(TypedLink("sign(z1*z2*z3)*exp(e1)", 0.0), refinement)),
            Verdict::absent);
}

TEST(LabelBins, DoNotDependOnHowLabelsAreWritten) {
  const auto averages = [](const std::string& text) {
    return typed_channel_at_zero(TypedLink(text, 0.0), {}, {});
  };
  const auto once = averages("z1*z2*z3+z4");
  const auto often = averages("(z1*z2*z3+z4)^3");
  for (std::size_t u = 0; u < once.size(); ++u) {
    // A label next to an edge may be rounded across it.
    constexpr double a_sample = 1e-5;
    EXPECT_NEAR((once[u].growth - often[u].growth).norm(), 0.0, a_sample);
  }
}

// Every sample is in one bin; a label of positive mass is one by itself.
TEST(LabelBins, HoldAllSamplesAndKeepRegionsApart) {
  const TypedLink link("relu(z1+z2*z3*z4)", 0.0);
  const SampleForm form(link, KnownDirections::none(4));
  const LabelBins bins(link, form, HermiteIndices(4, 2), 2, {}, {});
  const ContentsOf<LevelMoments> mass = [](const LevelMoments& m) { return std::vector{m.z}; };
  const LabelRule rule = bins.rule(mass, {});
  const double all = std::accumulate(
      rule.nodes.begin(), rule.nodes.end(), 0.0,
      [&](double sum, const LabelNode& node) { return sum + bins.moments(1, node.label).z; });
  EXPECT_NEAR(all, 1.0, tolerance::thousands_of_roundings);
  ASSERT_TRUE(rule.nodes.back().label.is_atom());
  // One in the root of 2^17 samples, three times.
  constexpr double scatter = 3.0 * 0.5 / 362.0;
  EXPECT_NEAR(bins.moments(1, rule.nodes.back().label).z, 0.5, scatter);
}

}  // namespace
}  // namespace onset::smi
