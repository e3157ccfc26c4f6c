#include "smi/limits/spectral.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "smi/model/attention_model.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

using Kind = SpectralMethod::Kind;

/// Half a unit of the sixth digit, with which the values of [links 40] are given.
constexpr double sixth_digit = 5.1e-7;
/// Standard errors (16 replicates) beyond which an agreement fails: false alarms are rarer than
/// 1e-6.
constexpr double many_errors = 8.0;

const SpectralLaw& square_law() {
  static const SpectralLaw law = spectral_law(TypedLink("z1^2", 0.0), 1, {});
  return law;
}

SpectralLimit square_at(double alpha, SpectralMethod method) {
  return spectral_limit(square_law(), 0, alpha, method, {});
}

// Values of [links 40], from prototypes that share no code with this one.
TEST(Spectral, SquareHasItsKnownEdgesOutliersAndOverlaps) {
  const SpectralLimit one = square_at(1.0, {Kind::gamma, 1.0});
  EXPECT_NEAR(one.edge->value, 0.958080, sixth_digit);
  EXPECT_EQ(one.outliers.front().eigenvalue.value, 1.0);
  EXPECT_NEAR(one.outliers.front().overlap.value, 0.230697, sixth_digit);
  const SpectralLimit bulk = square_at(1.0, {Kind::bulk, 1.0});
  EXPECT_NEAR(bulk.outliers.front().eigenvalue.value, 1.037038, sixth_digit);
  EXPECT_NEAR(bulk.outliers.front().overlap.value, 0.206037, sixth_digit);
  const SpectralLimit two = square_at(2.0, {Kind::gamma, 1.0});
  EXPECT_NEAR(two.edge->value, 0.679096, sixth_digit);
  EXPECT_NEAR(two.outliers.front().overlap.value, 0.638881, sixth_digit);
  EXPECT_NEAR(square_at(1.0, {Kind::gamma, 1.05}).outliers.front().eigenvalue.value, 1.012828,
              sixth_digit);
}

// (alpha - 1/2) / (alpha + 2) for the square.
TEST(Spectral, LinearisedMessagePassingHasAClosedForm) {
  constexpr double rule = 1e-7;
  for (const double alpha : {0.6, 1.0, 2.0, 5.0}) {
    const SpectralLimit lamp = square_at(alpha, {Kind::lamp, 1.0});
    ASSERT_EQ(lamp.outliers.size(), 1U);
    EXPECT_NEAR(lamp.outliers.front().overlap.value, (alpha - 0.5) / (alpha + 2.0), rule);
    EXPECT_NEAR(lamp.outliers.front().eigenvalue.value, 2.0 * alpha, alpha * rule);
    EXPECT_NEAR(lamp.edge->value, std::sqrt(2.0 * alpha), alpha * rule);
  }
}

// gamma = 1 is the best of the family, and gamma -> 1 leads to it continuously.
TEST(Spectral, TheSymmetricMethodIsTheBestOfTheFamily) {
  for (const double alpha : {0.7, 1.5, 4.0}) {
    const double best = square_at(alpha, {Kind::gamma, 1.0}).outliers.front().overlap.value;
    double before = best;
    for (const double gamma : {1.001, 1.02, 1.1}) {
      const double other = square_at(alpha, {Kind::gamma, gamma}).outliers.front().overlap.value;
      EXPECT_LT(other, before);
      before = other;
    }
    constexpr double close = 1e-4;  // the loss is quadratic in gamma - 1
    EXPECT_NEAR(square_at(alpha, {Kind::gamma, 1.001}).outliers.front().overlap.value, best, close);
    EXPECT_GT(best, square_at(alpha, {Kind::bulk, 1.0}).outliers.front().overlap.value);
    EXPECT_GT(best, square_at(alpha, {Kind::lamp, 1.0}).outliers.front().overlap.value);
  }
}

TEST(Spectral, NothingLeavesTheBulkBelowTheThreshold) {
  for (const Kind kind : {Kind::gamma, Kind::bulk, Kind::lamp}) {
    EXPECT_TRUE(square_at(0.45, {kind, 1.0}).outliers.empty());
  }
}

// One layer: nu = M (M + 1), and E tr G^3 of a sum of M squares gives the overlap [links 39].
TEST(Spectral, OneLayerOfAttentionIsClosed) {
  constexpr double rule = 1e-9;
  for (const int tokens : {2, 3, 8}) {
    const SpectralLaw law = one_layer_law(tokens);
    const double m = tokens;
    const double nu = m * (m + 1.0);
    EXPECT_NEAR(spectral_growth(law).front().value, nu, nu * rule);
    // E (r - 1)^3 - (M - 1) with r a sum of M squares.
    const double cube = m * (m + 2.0) * (m + 4.0) - 3.0 * m * (m + 2.0) + 3.0 * m - 1.0 - (m - 1.0);
    const double alpha = 3.0 / nu;
    const SpectralLimit lamp = spectral_limit(law, 0, alpha, {Kind::lamp, 1.0}, {});
    EXPECT_NEAR(lamp.outliers.front().overlap.value,
                (alpha - 1.0 / nu) / (alpha + cube / (nu * nu)), rule);
  }
}

// Every label of two tokens forbids one combination of the inputs: from alpha = 1 on they are all
// forbidden but the teacher.
TEST(Spectral, OneLayerIsKnownExactlyFromAlphaOneOn) {
  const SpectralLaw law = one_layer_law(2);
  double before = 0.0;
  for (const double alpha : {0.9, 0.99, 0.999}) {
    const SpectralLimit limit = spectral_limit(law, 0, alpha, {Kind::gamma, 1.0}, {});
    ASSERT_TRUE(limit.edge.has_value());
    EXPECT_GT(limit.outliers.front().overlap.value, before);
    before = limit.outliers.front().overlap.value;
  }
  constexpr double nearly = 0.999;
  EXPECT_GT(before, nearly);
  for (const double alpha : {1.0, 1.2, 3.0}) {
    const SpectralLimit limit = spectral_limit(law, 0, alpha, {Kind::gamma, 1.0}, {});
    EXPECT_FALSE(limit.edge.has_value());
    ASSERT_EQ(limit.outliers.size(), 1U);
    EXPECT_EQ(limit.outliers.front().overlap.value, 1.0);
    EXPECT_EQ(limit.outliers.front().multiplicity, 1);
    EXPECT_EQ(limit.outliers.front().teachers, std::vector<std::size_t>{0});
  }
}

// The mean of S is made the identity without a change of its sign: small eigenvalues of S are
// common here, and a negative one would be a pole.
TEST(Spectral, TwoLayersAreSolvedForAtEverySampleRatio) {
  const auto model = attention_model(DeepAttention{});
  const SpectralLaw law = spectral_law(*model, 256, 128, 1, {});
  constexpr double rounding = 1e-12;
  for (const auto& labels : law.replicates) {
    for (const LabelExcess& label : labels) {
      const Eigen::MatrixXd second = label.excess[1] + Eigen::MatrixXd::Identity(2, 2);
      EXPECT_GE(second(0, 0) * second(1, 1) - second(0, 1) * second(1, 0), -rounding);
      EXPECT_GE(second.trace(), 0.0);
    }
  }
  double before = 0.0;
  for (const double alpha : {0.5, 0.85, 1.0, 1.3, 2.0}) {
    const SpectralLimit limit = spectral_limit(law, 1, alpha, {Kind::gamma, 1.0}, {});
    ASSERT_EQ(limit.outliers.size(), 1U);
    EXPECT_GT(limit.outliers.front().overlap.value, before);
    EXPECT_LT(limit.outliers.front().overlap.value, 1.0);
    before = limit.outliers.front().overlap.value;
  }
}

// All three blocks see all three directions: G of a label is the same for each, by symmetry, and so
// it is in every replicate. No label has a mean.
TEST(LongSpectral, FactorsOfAProductAreAlikeInEveryReplicate) {
  const SpectralLaw law = spectral_law(TypedLink("z1*z2*z3", 0.0), 1, {});
  const std::vector<Estimate> growth = spectral_growth(law);
  ASSERT_EQ(growth.size(), 3U);
  // As in typed_staircase_test.
  constexpr double eight_units = 17.0;  // false alarms rarer than 1e-6
  EXPECT_NEAR(growth[0].value, 1.0 / 2.5651804134, eight_units * growth[0].error);
  EXPECT_LT(growth[0].error, 1e-2 * growth[0].value);
  const SpectralLimit limit = spectral_limit(law, 1, 3.5, {Kind::gamma, 1.0}, {});
  ASSERT_EQ(limit.outliers.size(), 1U);
  EXPECT_EQ(limit.outliers.front().multiplicity, 3);
  for (std::size_t b = 0; b < 3; ++b) EXPECT_FALSE(law.is_pulled(b));
}

/// One line of [links 40]; nothing where it has no value.
struct Reference {
  SpectralMethod method;
  std::optional<double> edge;
  std::optional<double> outlier;
  double overlap;
};

/// Compares within some standard errors and the digits of the references, and wants an overlap with
/// a standard error that is of use.
void expect_references(const SpectralLaw& law, std::size_t block, double alpha, int outliers,
                       const std::vector<Reference>& references, double errors, double digits,
                       double useful) {
  for (const Reference& wanted : references) {
    SCOPED_TRACE(static_cast<int>(wanted.method.kind));
    const SpectralLimit limit = spectral_limit(law, block, alpha, wanted.method, {});
    ASSERT_EQ(limit.outliers.size(), 1U);
    const Outlier& found = limit.outliers.front();
    EXPECT_EQ(found.multiplicity, outliers);
    EXPECT_NEAR(found.overlap.value, wanted.overlap, errors * found.overlap.error + digits);
    EXPECT_LT(found.overlap.error, useful);
    if (wanted.outlier) {
      EXPECT_NEAR(found.eigenvalue.value, *wanted.outlier,
                  errors * found.eigenvalue.error + digits);
    }
    if (wanted.edge) {
      ASSERT_TRUE(limit.edge);
      EXPECT_NEAR(limit.edge->value, *wanted.edge, errors * limit.edge->error + digits);
    }
  }
}

// The exchange of the factors, and of the sign of one of them with that of the label, makes them
// equal.
TEST(Spectral, FactorsOfAProductHaveTwoEqualOutliers) {
  expect_references(spectral_law(TypedLink("z1*z2", 0.0), 1, {}), 0, 1.6, 2,
                    {{{Kind::gamma, 1.0}, 0.903006, 1.0, 0.329424},
                     {{Kind::bulk, 1.0}, 1.0, 1.081085, 0.295885},
                     {{Kind::lamp, 1.0}, {}, 1.6 / 0.593751098, 0.241854}},
                    many_errors, sixth_digit, 3e-4);
}

// S = I + G is singular, so that gamma = 1 is no matrix of the family.
TEST(Spectral, LabelsThatAreAnAngleHaveSingularMatrices) {
  const SpectralLaw law = spectral_law(TypedLink("z1/z2", 0.0), 1, {});
  expect_references(
      law, 0, 1.8, 1,
      {{{Kind::gamma, 1.05}, 0.8946, 1.0777, 0.7291}, {{Kind::bulk, 1.0}, 1.0, 1.1037, 0.5505}},
      many_errors, tolerance::half_of_fourth_digit, 1e-5);
  constexpr double rule = 1e-7;  // what a rule over the label leaves out beyond its scatter
  expect_references(law, 0, 1.8, 1, {{{Kind::lamp, 1.0}, std::sqrt(1.8), 1.8, 0.8 / 1.8}},
                    many_errors, rule, 1e-5);
}

// Theta has two values: one direction is known better than the other.
TEST(LongSpectral, DirectionsThatGrowTogetherAreKnownUnequally) {
  const SpectralLaw law = spectral_law(TypedLink("sign(z1)*z2", 0.0), 1, {});
  expect_references(law, 0, 1.5, 1,
                    {{{Kind::gamma, 1.0}, {}, 1.0, 0.470309},
                     {{Kind::lamp, 1.0}, {}, 1.5 / 0.457572282, 0.294073}},
                    many_errors, sixth_digit, 1e-4);
  const auto own = own_outlier(law, 0, 1.5);
  ASSERT_TRUE(own);
  const Eigen::Matrix2d s = Eigen::Matrix2d::Identity() - own->theta;
  // Errors of Theta, which states none, are like those of the overlap.
  EXPECT_NEAR(s(0, 0) / s.norm(), 0.4606, tolerance::fourth_digit);
  EXPECT_NEAR(s(1, 1) / s.norm(), 0.8876, tolerance::fourth_digit);
}

// One direction at two tokens of each factor: 4/3 is twice its threshold [links 40].
TEST(Spectral, LabelsOfFourFieldsArePutIntoBins) {
  // As in typed_staircase_test.
  constexpr double eight_units = 17.0;  // false alarms rarer than 1e-6
  const SpectralLaw law = spectral_law(TypedLink("z1_1*z2_1+z1_2*z2_2", 0.0), 1, {});
  expect_references(law, 0, 4.0 / 3.0, 2, {{{Kind::gamma, 1.0}, 0.941472, 1.0, 0.276102}},
                    eight_units, sixth_digit, 1e-3);
  expect_references(law, 0, 8.0 / 3.0, 2,
                    {{{Kind::gamma, 1.0}, 0.613733, 1.0, 0.582902},
                     {{Kind::bulk, 1.0}, 1.0, 1.261113, 0.538308},
                     {{Kind::lamp, 1.0}, 2.0, 4.0, 9.0 / 19.0}},
                    eight_units, sixth_digit, 1e-3);
}

// A rotation of the fields is no part of the answer: z1^2 read along (z1+z2)/sqrt2.
TEST(Spectral, TwoDirectionsThatAreOneGiveTheSameNumbers) {
  const SpectralLaw law = spectral_law(TypedLink("(z1+z2)^2/2", 0.0), 1, {});
  ASSERT_EQ(law.rank, std::vector<int>{2});
  const SpectralLimit limit = spectral_limit(law, 0, 1.0, {Kind::gamma, 1.0}, {});
  ASSERT_EQ(limit.outliers.size(), 1U);
  EXPECT_EQ(limit.outliers.front().multiplicity, 1);
  EXPECT_NEAR(limit.outliers.front().overlap.value, 0.230697,
              many_errors * limit.outliers.front().overlap.error);
  EXPECT_LT(limit.outliers.front().overlap.error, 1e-3);
}

/// 1 - Theta where a label fixes both fields up to a common sign. G has the eigenvalues R - 1, R
/// being twice an exponential, and -1; Theta is a number that solves [links 35] at 1.
double overlap_of_known_fields(double alpha) {
  const auto excess = [alpha](double theta) {
    constexpr int steps = 20000;
    constexpr double end = 40.0;
    constexpr double step = end / steps;
    double sum = 0.0;
    for (int k = 0; k < steps; ++k) {  // the midpoint rule, to 1e-6
      const double x = (k + 0.5) * step;
      sum += step * std::exp(-x) * (2.0 * x - 1.0) / (theta + (1.0 - theta) * 2.0 * x);
    }
    return 1.0 / theta + 0.5 * alpha * (sum - 1.0 / theta) - 1.0;
  };
  // Theta = 1 solves it too; the physical solution lies below, where the sign has changed.
  double low = 1e-3;
  double high = 1.0 - 1e-3;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (excess(middle) > 0.0) == (excess(low) > 0.0) ? low = middle : high = middle;
  }
  return 1.0 - low;
}

// Labels of two outputs are drawn: z1*z2 and z1^2-z2^2 together are (z1 + i z2)^2.
TEST(Spectral, TwoOutputsThatFixBothFieldsUpToASignHaveTheirOverlap) {
  const SpectralLaw law = spectral_law(TypedLink("z1*z2, z1^2-z2^2", 0.0), 1, {});
  ASSERT_EQ(law.rank, std::vector<int>{2});
  const Estimate nu = spectral_growth(law).front();
  EXPECT_NEAR(nu.value, 3.0, many_errors * nu.error);
  const double alpha = 1.0;
  const SpectralLimit limit = spectral_limit(law, 0, alpha, {Kind::gamma, 1.0}, {});
  ASSERT_EQ(limit.outliers.size(), 1U);
  EXPECT_EQ(limit.outliers.front().multiplicity, 1);
  const Estimate overlap = limit.outliers.front().overlap;
  EXPECT_NEAR(overlap.value, overlap_of_known_fields(alpha), many_errors * overlap.error);
  constexpr double useful = 0.01;  // a percent or so of the overlap
  EXPECT_LT(overlap.error, useful);
}

// Independent outputs have the matrices, and the numbers, of each by itself.
TEST(Spectral, IndependentOutputsDoNotSeeEachOther) {
  const SpectralLaw law = spectral_law(TypedLink("z1^2, z2^2", 0.0), 1, {});
  ASSERT_EQ(law.rank, (std::vector<int>{1, 1}));
  for (const std::size_t block : {0U, 1U}) {
    const SpectralLimit limit = spectral_limit(law, block, 1.0, {Kind::gamma, 1.0}, {});
    ASSERT_EQ(limit.outliers.size(), 1U);
    const Estimate overlap = limit.outliers.front().overlap;
    EXPECT_NEAR(overlap.value, 0.230697, many_errors * overlap.error);
  }
}

// A label of data does not say which of its outputs have a density: sign(z2) has none, z1^2 has
// one.
TEST(SpectralLaw, TheExcessOfDataIsThatOfTheirLabels) {
  constexpr double rule = 1e-3;   // of one posterior at the default spacing
  constexpr double jumps = 0.05;  // of one whose level set ends at the jumps of another output
  const TypedLink link("z1^2, sign(z2^2-1)", 0.0);
  const SampleExcess excess = sample_excess(link, {0.25, 4.0, 1.0, -1.0}, 1, 1, {});
  ASSERT_EQ(excess.block.size(), 2U);
  EXPECT_NEAR(excess.block[0][0](0, 0), 0.25 - 1.0, rule);
  EXPECT_NEAR(excess.block[0][1](0, 0), 4.0 - 1.0, rule);
  // E[z^2 - 1 | |z| > 1] = 2 phi(1)/p with p = 0.3173105079, and -2 phi(1)/(1 - p) inside.
  const double density = 0.4839414490;
  EXPECT_NEAR(excess.block[1][0](0, 0), density / 0.3173105079, jumps);
  EXPECT_NEAR(excess.block[1][1](0, 0), -density / 0.6826894921, jumps);
}

TEST(SpectralLaw, SignsPartDirections) {
  using Blocks = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(sign_blocks(TypedLink("z1^2+z2^2", 0.0)), (Blocks{{0}, {1}}));
  EXPECT_EQ(sign_blocks(TypedLink("z1*z2", 0.0)), (Blocks{{0, 1}}));
  EXPECT_EQ(sign_blocks(TypedLink("z1^2+sign(z1*z2*z3)", 0.0)), (Blocks{{0}, {1}, {2}}));
  EXPECT_EQ(sign_blocks(TypedLink("z1^2, z1*z2", 0.0)), (Blocks{{0, 1}}));
}

// alpha_c of the second layer is 0.18548 by another rule.
TEST(Spectral, LayersOfAttentionHaveMatricesOfTheirOwn) {
  DeepAttention attention;
  const auto model = attention_model(attention);
  const SpectralLaw law = spectral_law(*model, 256, 256, 1, {});
  ASSERT_EQ(law.rank.size(), 2U);
  const Estimate nu = spectral_growth(law)[1];
  EXPECT_NEAR(nu.value, 1.0 / 0.18548, many_errors * nu.error);
  expect_references(law, 1, 0.4, 1,
                    {{{Kind::gamma, 1.0}, 0.9453, 1.0, 0.2710},
                     {{Kind::bulk, 1.0}, 1.0, 1.0472, 0.2346},
                     {{Kind::lamp, 1.0}, {}, {}, 0.1870}},
                    many_errors, tolerance::half_of_fourth_digit, 3e-3);
  expect_references(law, 1, 0.8, 1,
                    {{{Kind::gamma, 1.0}, 0.5922, 1.0, 0.7567},
                     {{Kind::bulk, 1.0}, 1.0, 1.2402, 0.5165},
                     {{Kind::lamp, 1.0}, {}, {}, 0.3972}},
                    many_errors, tolerance::half_of_fourth_digit, 3e-3);
}

}  // namespace
}  // namespace onset::smi
