#include "smi/limits/typed/pieces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <stop_token>
#include <string>

#include "onset/core/error.hpp"
#include "smi/limits/typed/typed_staircase.hpp"

namespace onset::smi {
namespace {

// The symmetries of the link that leave what is known alone: without z1 known, signs of z1 and z2
// change together; with it, the sign of z3 alone does.
TEST(SymmetricDirections, AreThoseThatSymmetriesOfTheRestLeaveAlone) {
  const TypedLink link("z1*z2+z3^2", 0.0);
  EXPECT_EQ(symmetric_directions(link, Eigen::MatrixXd(3, 0)).cols(), 0);
  const Eigen::MatrixXd left = symmetric_directions(link, Eigen::MatrixXd::Identity(3, 1));
  ASSERT_EQ(left.cols(), 2);
  EXPECT_EQ(left.row(2).norm(), 0.0);
}

struct Counted {
  std::string link;
  std::vector<std::pair<std::string, double>> recovered;  ///< directions, alpha

  // NOLINTNEXTLINE(readability-identifier-naming)
  friend void PrintTo(const Counted& t, std::ostream* out) { *out << t.link; }
};

class Counting : public testing::TestWithParam<Counted> {};

// Examples of [links 6].
TEST_P(Counting, FindsWhatIsRecoveredExactly) {
  const TypedLink link(GetParam().link, 0.0);
  const auto found = exact_recovery(link, relevant_directions(link), 1, {});
  ASSERT_EQ(found.size(), GetParam().recovered.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(direction_names(found[k].directions), GetParam().recovered[k].first);
    // Masses of pieces are averages of eight replicates: 17 errors fail by chance below 1e-6.
    constexpr double many_errors = 17.0;
    constexpr double rounding = 1e-12;
    EXPECT_NEAR(found[k].alpha.value, GetParam().recovered[k].second,
                many_errors * found[k].alpha.error + rounding);
  }
}

INSTANTIATE_TEST_SUITE_P(Links, Counting,
                         testing::Values(Counted{"z1^2", {{"z1", 1.0}}},
                                         Counted{"relu(z1)", {{"z1", 2.0}}},
                                         Counted{"z1*z2", {{"z1, z2", 2.0}}},
                                         Counted{"z1^2+sign(z1*z2*z3)", {{"z1", 1.0}}},
                                         Counted{"sign(z1*z2)", {}}, Counted{"z1+e1", {}},
                                         Counted{"sign(z1)*z2", {{"z2", 1.0}}},
                                         Counted{"max(z1, z2)", {{"z1, z2", 2.0}}}));

// Several outputs: subspaces that are no axes decide, and noise uses up an equation.
INSTANTIATE_TEST_SUITE_P(
    SeveralOutputs, Counting,
    testing::Values(Counted{"z1, relu(z2)", {{"z1", 1.0}, {"z2", 2.0}}},
                    Counted{"relu(z1), z1+z2", {{"(z1+z2)/sqrt2", 1.0}, {"(z1-z2)/sqrt2", 2.0}}},
                    Counted{"z1, z2+0.1*e1", {{"z1", 1.0}}}, Counted{"z1, z1^2", {{"z1", 1.0}}},
                    Counted{"z1*z2, z2*z3", {{"z1, z2, z3", 1.5}}},
                    Counted{"sign(z1), z2", {{"z2", 1.0}}}));

TEST(RelevantDirections, ThoseThatDoNotMatterAreLeftOut) {
  const auto names = [](const std::string& text) {
    return direction_names(relevant_directions(TypedLink(text, 0.0)));
  };
  EXPECT_EQ(names("(z1+z2)^2"), "(z1+z2)/sqrt2");
  EXPECT_EQ(names("sign(z1-z2)"), "(z1-z2)/sqrt2");
  EXPECT_EQ(names("sign(z1)*z2"), "z1, z2");
  EXPECT_EQ(names("sign(z1)^2*z2"), "z2");
  EXPECT_EQ(names("sign(z1*(1+z2^2))"), "z1");
  EXPECT_EQ(names("z2^2"), "z2");
}

// What happens only far out counts as well.
TEST(RelevantDirections, MatterFarOut) {
  const auto names = [](const std::string& text) {
    return direction_names(relevant_directions(TypedLink(text, 0.0)));
  };
  EXPECT_EQ(names("z2^2+relu(z1-4.5)"), "z1, z2");
  EXPECT_EQ(names("z2^2+sign(z1-4.5)"), "z1, z2");
  EXPECT_THROW((void)names("sign(z1-30)"), InvalidArgument);  // one number for all fields
}

TEST(DirectionNames, AreAxesSumsOrCoefficients) {
  Eigen::MatrixXd basis(3, 1);
  basis << 0.0, -1.0, 0.0;
  EXPECT_EQ(direction_names(basis), "z2");
  basis << 0.6, 0.0, -0.8;
  EXPECT_EQ(direction_names(basis), "-0.600*z1+0.800*z3");
}

// Outputs that see one direction each become exact apart from one another; a product does not.
TEST(ExactRecovery, PartsAreWhatBecomesExactAlone) {
  const TypedLink apart("z1, z2^2", 0.0);
  const auto steps = exact_recovery(apart, relevant_directions(apart), 1, {});
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_EQ(steps[0].parts.size(), 2U);
  EXPECT_EQ(steps[0].parts[0].cols(), 1);
  const TypedLink turned("z1*z2, z1+z2", 0.0);
  const auto rotated = exact_recovery(turned, relevant_directions(turned), 1, {});
  ASSERT_EQ(rotated.size(), 1U);
  ASSERT_EQ(rotated[0].parts.size(), 1U);
  EXPECT_EQ(direction_names(rotated[0].parts[0]), "(z1+z2)/sqrt2");
  const TypedLink together("z1*z2", 0.0);
  EXPECT_TRUE(exact_recovery(together, relevant_directions(together), 1, {})[0].parts.empty());
}

// A disc off the origin that has 1.7e-4 of the mass: lines may miss it, points do not. Only there
// does the label change with z2.
TEST(ExactRecovery, SmallPiecesThatPointsMeetCount) {
  const TypedLink disc("z1+relu(0.0004-(z1-0.5)^2-(z2+0.3)^2)", 0.0);
  const auto steps = exact_recovery(disc, relevant_directions(disc), 1, {});
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(direction_names(steps[1].directions), "z2");
  const double mass = 0.0004 / 2.0 * std::exp(-0.5 * (0.25 + 0.09));
  constexpr double many_errors = 17.0;  // of eight replicates: false alarms below 1e-6
  EXPECT_NEAR(steps[1].alpha.value, 1.0 / mass, many_errors * steps[1].alpha.error);
}

TEST(ExactRecovery, EndsWhenAskedToStop) {
  std::stop_source stop;
  stop.request_stop();
  Context context;
  context.stop = stop.get_token();
  const TypedLink link("relu(z1*z2)", 0.0);
  EXPECT_THROW((void)exact_recovery(link, relevant_directions(link), 1, context), Interrupted);
}

TEST(ExactRecovery, OnlyPartsThatRanOffAreExact) {
  const Eigen::MatrixXd both = Eigen::MatrixXd::Identity(2, 2);
  const std::vector<ExactRecovery> steps{{both, {1.0, 0.0}, {both.col(0), both.col(1)}}};
  const auto part = [&](double q1, double q2) {
    return exact_part(steps, both, [&](const Eigen::MatrixXd& some) {
      const Eigen::MatrixXd q = Eigen::Vector2d(q1, q2).asDiagonal();
      return (some.transpose() * q * some).trace() >
             exact_overlap * static_cast<double>(some.cols());
    });
  };
  EXPECT_EQ(direction_names(part(1.0, 0.7)), "z1");
  EXPECT_EQ(direction_names(part(0.7, 1.0)), "z2");
  EXPECT_EQ(part(1.0, 1.0).cols(), 2);
  EXPECT_EQ(part(0.7, 0.7).cols(), 2);
}

}  // namespace
}  // namespace onset::smi
