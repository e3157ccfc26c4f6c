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
  return estimate(growth_rates(averages), averages, averages.front().rule_error.growth);
}

const ContentsOf<LevelMoments> mass_only = [](const LevelMoments& m) { return std::vector{m.z}; };

struct FourFields {
  std::string link;
  double alpha;

  // NOLINTNEXTLINE(readability-identifier-naming)
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

// No bin has labels that are not numbers: what they leave out of the mass is part of the error.
TEST(LabelBins, LeaveOutLabelsThatAreNoNumbers) {
  const TypedLink link("sqrt(z1+4)*z2*z3", 0.0);
  const SampleForm form(link, KnownDirections::none(3));
  const LabelBins bins(link, form, HermiteIndices(3, 2), 2, {}, {});
  double all = 0.0;
  for (const LabelNode& node : bins.rule(mass_only, {}).nodes) {
    all += bins.moments(1, node.label).z;
  }
  const double no_number = 0.5 * std::erfc(4.0 / std::sqrt(2.0));
  const double scatter = 6.0 * std::sqrt(no_number / std::exp2(19));
  EXPECT_NEAR(1.0 - all, no_number, scatter);
}

// The rule's error of growth is not that of the pull, which may be far smaller.
TEST(LabelBins, PullAndGrowthHaveErrorsOfTheirOwn) {
  const TypedLink link("step(z1*z2*z3)*(z1+3)", 0.0);
  const auto averages = typed_channel_at_zero(link, {}, {});
  const Estimate pull = estimate(pulls(averages), averages, averages.front().rule_error.pull);
  constexpr double enough = 7e-4;  // the default tolerance, with the least samples
  EXPECT_LT(pull.error, enough);
  // The label is z1 + 3 or, for half of all fields, tells nothing.
  EXPECT_NEAR(pull.value, 0.5, many_errors * pull.error);
}

// Every sample is in one bin; a label of positive mass is one by itself.
TEST(LabelBins, HoldAllSamplesAndKeepRegionsApart) {
  const TypedLink link("relu(z1+z2*z3*z4)", 0.0);
  const SampleForm form(link, KnownDirections::none(4));
  const LabelBins bins(link, form, HermiteIndices(4, 2), 2, {}, {});
  const LabelRule rule = bins.rule(mass_only, {});
  const double all = std::accumulate(
      rule.nodes.begin(), rule.nodes.end(), 0.0,
      [&](double sum, const LabelNode& node) { return sum + bins.moments(1, node.label).z; });
  EXPECT_NEAR(all, 1.0, tolerance::thousands_of_roundings);
  ASSERT_TRUE(rule.nodes.back().label.is_atom());
  // Of independent samples, half of which are in the region, that would be six standard errors;
  // false alarms are rarer than 1e-6 even then.
  const double scatter = 6.0 * 0.5 / std::sqrt(std::exp2(19));
  EXPECT_NEAR(bins.moments(1, rule.nodes.back().label).z, 0.5, scatter);
}

}  // namespace
}  // namespace onset::smi
