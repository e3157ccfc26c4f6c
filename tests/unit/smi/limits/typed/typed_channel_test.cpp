#include "smi/limits/typed/typed_channel.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>
#include <ostream>
#include <string>

#include "onset/numerics/replicates.hpp"

namespace onset::smi {
namespace {

/// Standard errors, from eight replicates with seven degrees of freedom, beyond which an agreement
/// fails: false alarms are rarer than 1e-6 a comparison.
constexpr double many_errors = 17.0;
/// The rule over labels where there is nothing to scatter.
constexpr double label_rule_error = 2e-7;

struct Found {
  double value;
  double error;
};

Found top(const std::vector<TypedAverages>& averages, bool growth) {
  numerics::Replicates values;
  for (const TypedAverages& a : averages) {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(growth ? a.growth : a.pull);
    values.push_back(eigen.eigenvalues().maxCoeff());
  }
  if (values.size() < 2) return {values.front(), 0.0};
  const Estimate e = numerics::reduce(values);
  return {e.value, e.error};
}

struct FirstThreshold {
  std::string link;
  double noise;
  double alpha;
  double useful;  ///< stated errors above this one, relative to alpha, would be of no use

  // NOLINTNEXTLINE(readability-identifier-naming)
  friend void PrintTo(const FirstThreshold& t, std::ostream* out) {
    *out << t.link;
    if (t.noise > 0.0) *out << " noise " << t.noise;
  }
};

// Closed forms of 1/F at overlap 0 [links 8].
void expect_closed_form(const FirstThreshold& wanted) {
  const TypedLink link(wanted.link, wanted.noise);
  const auto averages = typed_channel_at_zero(link, {}, {});
  const Found growth = top(averages, true);
  const double error = growth.error * wanted.alpha;
  EXPECT_NEAR(growth.value * wanted.alpha, 1.0, many_errors * error + label_rule_error);
  EXPECT_LT(error, wanted.useful);
  EXPECT_LT(averages.front().rule_error.growth * wanted.alpha, wanted.useful);
}

class ChannelAtZero : public testing::TestWithParam<FirstThreshold> {};

TEST_P(ChannelAtZero, GrowthIsThatOfTheClosedForm) {
  expect_closed_form(GetParam());
}

// Labels near 0 have small circles as level sets, around which lines are laid anew for each.
TEST(LongChannelAtZero, SmallLevelSetsAreResolved) {
  expect_closed_form({"z1_1^2+z1_2^2", 0.0, 0.5, 1e-5});
}

// One-dimensional integrals, by trapezoid and Gauss rules of another program, give abs(z1)+abs(z2),
// z1*z2/(1+z1^2) and z1^2 with noise.
constexpr double parity_of_tokens = std::numbers::pi * std::numbers::pi / 8.0;
INSTANTIATE_TEST_SUITE_P(Links, ChannelAtZero,
                         testing::Values(FirstThreshold{"z1^2", 0.0, 0.5, 1e-6},
                                         FirstThreshold{"abs(z1)", 0.0, 0.5, 1e-6},
                                         FirstThreshold{"sign(z1^2-1)", 0.0, 0.9249580393, 1e-6},
                                         FirstThreshold{"z1*z2", 0.0, 0.593751098, 1e-5},
                                         FirstThreshold{"z1_1*z1_2", 0.0, 0.296875549, 1e-5},
                                         FirstThreshold{"exp(-z1^2-z2^2)", 0.0, 1.0, 2e-5},
                                         FirstThreshold{"exp(-3*z1^2)", 0.0, 0.5, 1e-6},
                                         FirstThreshold{"z1^2", 0.5, 0.5416441748, 2e-5},
                                         FirstThreshold{"z1^2", 1.0, 0.6465905985, 1e-5},
                                         FirstThreshold{"z1/z2", 0.0, 1.0, 1e-5},
                                         FirstThreshold{"abs(z1)+abs(z2)", 0.0, 1.0679875404, 3e-4},
                                         FirstThreshold{"z1*z2/(1+z1^2)", 0.0, 0.5764255481, 1e-4},
                                         FirstThreshold{"sign(z1_1*z1_2)", 0.0, parity_of_tokens,
                                                        1e-6}));

// Labels of every size towards 0: the smallest of a sample are far from the smallest.
TEST(TypedChannel, LawsThatEndAtZeroAreCoveredToTheirEnd) {
  EXPECT_NEAR(top(typed_channel_at_zero(TypedLink("exp(5*z1)", 0.0), {}, {}), false).value, 1.0,
              label_rule_error);
  EXPECT_NEAR(top(typed_channel_at_zero(TypedLink("-exp(-5*z1)", 0.0), {}, {}), false).value, 1.0,
              label_rule_error);
}

// Far out tanh(3 z) is 1 to rounding: labels there are not told apart, and the error says so. The
// label shows the absolute value of z, whose growth rate is 2.
TEST(TypedChannel, SaturatedLabelsThatWereMissedAreInTheError) {
  const auto averages = typed_channel_at_zero(TypedLink("tanh(3*z1)^2", 0.0), {}, {});
  const double missing = 2.0 - averages.front().growth(0, 0);
  EXPECT_GT(missing, 1e-4);
  EXPECT_LT(missing, averages.front().rule_error.growth);
  EXPECT_LT(averages.front().rule_error.growth, 0.05);
}

// sin(5 z^2) turns ever faster with z. By Gauss rules in z between zeros and extrema, written by
// another program, E T^2 is 1/3.49501448322.
TEST(TypedChannel, LinksThatTurnFasterThanLinesAreScannedAreResolved) {
  const auto averages = typed_channel_at_zero(TypedLink("sin(5*z1^2)", 0.0), {}, {});
  const double growth = averages.front().growth(0, 0);
  EXPECT_NEAR(growth, 1.0 / 3.49501448322, averages.front().rule_error.growth);
  EXPECT_LT(averages.front().rule_error.growth, label_rule_error);
}

// No field is as little seen as that of a label that turns ninety times between two of its
// standard deviations; lines that are scanned too coarsely see one of 0.01.
TEST(TypedChannel, RootsBetweenTwoPointsOfALineAreNotMissed) {
  const auto averages = typed_channel_at_zero(TypedLink("sin(90*z1)", 0.0), {}, {});
  EXPECT_NEAR(averages.front().pull(0, 0), 0.0, averages.front().rule_error.pull);
}

// Peaks of the density next to the edge of a panel, as at an extreme value of the link, are seen,
// also where all points of a panel and of its halves miss one, as happened to He7. Independent sums
// over the real roots of He7(z) = y give the pull 0.5563560.
TEST(TypedChannel, PeaksAtTheEdgesOfPanelsAreNotMissed) {
  for (const std::string text : {"He7(z1)", "He5(z1)", "He9(z1)", "sin(3*z1)"}) {
    const auto averages = typed_channel_at_zero(TypedLink(text, 0.0), {}, {});
    EXPECT_NEAR(averages.front().mass, 1.0, label_rule_error) << text;
    EXPECT_NEAR(averages.front().defect(0, 0), 0.0, label_rule_error) << text;
  }
  constexpr double digits_of_the_sum = 1e-6;
  EXPECT_NEAR(typed_channel_at_zero(TypedLink("He7(z1)", 0.0), {}, {}).front().pull(0, 0),
              0.5563560, digits_of_the_sum);
}

// All of the posterior mass of every label is found: probabilities sum to 1, second moments to I.
TEST(TypedChannel, LabelsAndTheirPosteriorsAreComplete) {
  for (const std::string text : {"z1^3-z1", "relu(z1)", "exp(z1)+z1^2", "1/z1"}) {
    for (const TypedAverages& a : typed_channel_at_zero(TypedLink(text, 0.0), {}, {})) {
      EXPECT_NEAR(a.mass, 1.0, label_rule_error) << text;
      EXPECT_NEAR(a.defect(0, 0), 0.0, label_rule_error) << text;
    }
  }
}

TEST(TypedChannel, SamplesAgreeWithTheIntegralOverLabels) {
  const TypedLink link("z1*z2+z2", 0.0);
  TypedChannelOptions options;
  options.points = 64;
  const auto sampled = typed_channel(link, KnownDirections::none(2), options, {});
  const auto integrated = typed_channel_at_zero(link, options, {});
  for (const bool growth : {false, true}) {
    const Found a = top(sampled, growth);
    const Found b = top(integrated, growth);
    EXPECT_NEAR(a.value, b.value, many_errors * std::hypot(a.error, b.error));
  }
}

// Where z2 has this overlap labels of z1^2*z2 have the next threshold: sums over log x and log y of
// what makes y = z1^2 x, for both signs of x, and over what is known of x.
TEST(TypedChannel, SamplesGiveTheLaterThresholdOfAProduct) {
  constexpr double overlap = 0.4544433306, alpha = 0.7832258834;
  KnownDirections state;
  state.known = Eigen::MatrixXd::Identity(2, 2).rightCols(1);
  state.open = Eigen::MatrixXd::Identity(2, 1);
  state.overlap = Eigen::MatrixXd::Constant(1, 1, overlap);
  TypedChannelOptions options;
  options.points = 128;
  const auto averages = typed_channel(TypedLink("z1^2*z2", 0.0), state, options, {});
  const Found growth = top(averages, true);
  EXPECT_NEAR(growth.value, 1.0 / alpha, many_errors * growth.error);
  EXPECT_LT(growth.error, 0.02);
  numerics::Replicates precisions;
  for (const TypedAverages& one : averages) precisions.push_back(one.precision(0, 0));
  const Estimate precision = numerics::reduce(precisions);
  EXPECT_NEAR(precision.value, overlap / (1.0 - overlap) / alpha, many_errors * precision.error);
}

// y = z1 + z2 with z1 known exactly gives z2.
TEST(TypedChannel, WhatIsKnownExactlyIsNotIntegrated) {
  const TypedLink link("z1+z2", 0.0);
  KnownDirections state = KnownDirections::none(2);
  state.known = Eigen::MatrixXd::Identity(2, 1);
  state.open = Eigen::MatrixXd::Identity(2, 2).rightCols(1);
  state.overlap = Eigen::MatrixXd::Identity(1, 1);
  TypedChannelOptions options;
  options.points = 64;
  for (const TypedAverages& a : typed_channel(link, state, options, {})) {
    // <z2>^2 = z2^2, of mean 1: what is left is the error of 64 weighted points.
    constexpr double sampling_error = 0.2;
    EXPECT_NEAR(a.pull(0, 0), 1.0, sampling_error);
  }
}

// Means over samples of a link that jumps are counts: replicates that agree by chance do not show
// what a single sample more or less would change.
TEST(TypedChannel, JumpsStateAtLeastASampleMoreOrLess) {
  TypedChannelOptions options;
  options.points = 64;
  const auto nothing = KnownDirections::none(2);
  const auto jumps = typed_channel(TypedLink("sign(z1)*z2", 0.0), nothing, options, {});
  const double sample = 1.0 / static_cast<double>(options.points * options.replicates);
  for (const TypedAverages& one : jumps) {
    EXPECT_GE(one.rule_error.growth, sample * one.growth.cwiseAbs().maxCoeff());
  }
  for (const TypedAverages& one : typed_channel(TypedLink("z1*z2", 0.0), nothing, options, {})) {
    EXPECT_EQ(one.rule_error.growth, 0.0);
  }
}

/// The growth rate of (z1-z2)/sqrt2 of sign(z1) + sign(z2) where u = (z1+z2)/sqrt2 has this
/// overlap. Given u the label is 2 sign(u) where |v| < |u|, and 0 elsewhere; the second moment of v
/// less 1 over |v| < |u| is -2 |u| phi(u). Trapezoid rules over u and over what is known of it.
double growth_of_committee(double overlap) {
  constexpr double step = 0.02, reach = 8.0;
  const auto density = [](double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
  };
  double growth = 0.0;
  for (double eta = -reach; eta < reach; eta += 4.0 * step) {
    double mass[3] = {0.0, 0.0, 0.0}, excess[3] = {0.0, 0.0, 0.0};
    for (double xi = -reach; xi < reach; xi += step) {
      const double u = std::sqrt(overlap) * eta + std::sqrt(1.0 - overlap) * xi;
      const double weight = step * density(xi);
      const double inside = std::erf(std::abs(u) / std::numbers::sqrt2);
      const double moment = -2.0 * std::abs(u) * density(u);
      const int side = u > 0.0 ? 2 : 0;
      mass[side] += weight * inside;
      excess[side] += weight * moment;
      mass[1] += weight * (1.0 - inside);
      excess[1] -= weight * moment;
    }
    for (int y = 0; y < 3; ++y) {
      if (mass[y] > 0.0) {
        growth += 4.0 * step * density(eta) * excess[y] * excess[y] / mass[y];
      }
    }
  }
  return growth;
}

// The mean over discrete labels is a sum: what is left to scatter is what is known of the fields.
TEST(TypedChannel, DiscreteLabelsAreSummed) {
  const TypedLink link("sign(z1)+sign(z2)", 0.0);
  KnownDirections state;
  state.known = Eigen::MatrixXd::Constant(2, 1, std::numbers::sqrt2 / 2.0);
  state.open = Eigen::MatrixXd(2, 1);
  state.open << state.known(0, 0), -state.known(0, 0);
  TypedChannelOptions options;
  options.points = 64;
  for (const double overlap : {0.3, 0.710948, 0.99}) {
    state.overlap = Eigen::MatrixXd::Constant(1, 1, overlap);
    const auto averages = typed_channel(link, state, options, {});
    const Found growth = top(averages, true);
    const double exact = growth_of_committee(overlap);
    EXPECT_NEAR(growth.value, exact, many_errors * growth.error) << overlap;
    EXPECT_LT(growth.error, 0.01 * exact) << overlap;
    for (const TypedAverages& one : averages) {
      // Lines leave out what is beyond the radius that they cover.
      constexpr double beyond_lines = 1e-9;
      EXPECT_NEAR(one.mass, 1.0, beyond_lines);
      EXPECT_EQ(one.rule_error.growth, 0.0);
    }
  }
}

// With z3 known exactly the label is a bit: its growth rate is that of sign(z1*z2), 4/pi^2.
TEST(TypedChannel, LabelsThatAreDiscreteGivenWhatIsKnownAreSummedToo) {
  KnownDirections state;
  state.known = Eigen::MatrixXd::Identity(3, 3).rightCols(1);
  state.open = Eigen::MatrixXd::Identity(3, 2);
  state.overlap = Eigen::MatrixXd::Identity(1, 1);
  TypedChannelOptions options;
  options.points = 64;
  const auto averages = typed_channel(TypedLink("sign(z1*z2)+z3^2", 0.0), state, options, {});
  const Found growth = top(averages, true);
  EXPECT_NEAR(growth.value, 4.0 / (std::numbers::pi * std::numbers::pi),
              many_errors * growth.error);
  EXPECT_LT(growth.error, 1e-3);
}

TEST(TypedChannel, ThreadsDoNotChangeABit) {
  TypedChannelOptions options;
  options.points = 32;
  options.replicates = 2;
  Context one;
  one.threads = 1;
  Context three;
  three.threads = 3;
  for (const std::string text : {"z1*z2", "sign(z1)+sign(z2)"}) {
    const TypedLink link(text, 0.0);
    const auto a = typed_channel(link, KnownDirections::none(2), options, one);
    const auto b = typed_channel(link, KnownDirections::none(2), options, three);
    for (std::size_t r = 0; r < a.size(); ++r) {
      EXPECT_TRUE(a[r].growth == b[r].growth) << text;
    }
  }
  // Labels in bins.
  for (const std::string text : {"z1*z2*z3", "relu(z1*z2+z3)"}) {
    const TypedLink link(text, 0.0);
    const auto a = typed_channel_at_zero(link, {}, one);
    const auto b = typed_channel_at_zero(link, {}, three);
    for (std::size_t r = 0; r < a.size(); ++r) {
      EXPECT_TRUE(a[r].growth == b[r].growth && a[r].pull == b[r].pull) << text;
    }
  }
}

}  // namespace
}  // namespace onset::smi
