#include "onset/ssi/limits/exponent.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "onset/core/error.hpp"
#include "support/ssi_models.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

/// The numbers of the theory have eleven digits, and curvatures are some of them.
constexpr double tenth_digit = 1e-9;
/// The moments of a student with a kink have eight digits.
constexpr double eighth_digit = 1e-8;

using testing::with_student;

SequenceModel with_attention(const std::string& target, std::size_t tokens, Reduction reduction,
                             bool positional) {
  SequenceModel model;
  model.target = read_target(target, tokens);
  model.student.link = attention_link({tokens, reduction, {}, {}});
  model.positional = positional;
  return model;
}

Exponents exponents(const SequenceModel& model) {
  return information_exponents(model, {}, {});
}

TEST(SsiOrigin, ADegreeWithoutCurvaturesIsNone) {
  const SequenceModel model = with_attention("He2(z1)+He2(z2)", 2, Reduction::trace, true);
  EXPECT_THROW((void)information_exponents(model, {.degree = 1}, {}), InvalidArgument);
  EXPECT_EQ(information_exponents(model, {.degree = 2}, {}).sie, 2);
}

/// R_mm = -2 c_2, c_2 = f_20 (1/sqrt(pi)) 2 for |z1| + |z2|, with the attention coefficients of
/// the theory.
TEST(SsiOrigin, CurvaturesOfATargetWithKinksAreExact) {
  const auto x = exponents(with_attention("abs(z1) + abs(z2)", 2, Reduction::trace, true));
  const double expected = -4.0 * 0.09968677471 / std::sqrt(std::numbers::pi);
  EXPECT_NEAR(x.origin.curvature_m().value, expected, tolerance::magnified_roundings);
  EXPECT_LT(x.origin.curvature_m().error, 1e-10);
  const double mean = 2.0 * std::sqrt(2.0 / std::numbers::pi);
  const double along_e = 0.5 * 2.07600821431 - mean / std::sqrt(2.0);
  EXPECT_NEAR(x.origin.curvature_e().value, along_e, tolerance::magnified_roundings);
}

/// With three tokens in one term only rules of second order are left: the error has to say so.
TEST(SsiOrigin, ErrorsCoverWhatKinksOfThreeTokensLeave) {
  const auto spectrum = target_spectrum(*read_target("abs(z1*z2*z3)", 3), {}, {});
  const Estimate weight = spectrum.degrees[2].weight;
  const double exact = 3.0 * std::pow(2.0 / std::numbers::pi, 2) / std::numbers::pi;
  EXPECT_NEAR(weight.value, exact, weight.error);
}

TEST(SsiOrigin, CurvaturesOfTheTraceStudent) {
  const auto he2 = exponents(with_attention("He2sum", 2, Reduction::trace, true));
  // F''(0)/2 and -2 c_2 = -2 (2 sqrt(2) f_20), with f_20 = 0.09968677471.
  EXPECT_NEAR(he2.origin.curvature_e().value, 2.07600821431 / 2, tenth_digit);
  EXPECT_NEAR(he2.origin.curvature_m().value, -4 * std::numbers::sqrt2 * 0.09968677471,
              tenth_digit);
  EXPECT_EQ(he2.sie_descending, 2);
  const auto he4 = exponents(with_attention("He4sum", 2, Reduction::trace, true));
  EXPECT_EQ(he4.sie, 4);
  EXPECT_EQ(he4.sie_positional, 2);
  EXPECT_FALSE(he4.sie_descending) << "m = 0 is a local minimum";
  EXPECT_EQ(he4.sign, -1);
  EXPECT_EQ(he4.samples, "never");
  EXPECT_NEAR(he4.origin.taylor[0][4].value, 0.4805, tolerance::fourth_digit);
  const auto flipped = exponents(with_attention("-1*sum(He4(z))", 2, Reduction::trace, true));
  EXPECT_EQ(flipped.sie_descending, 4);
  EXPECT_EQ(flipped.samples, "d^3");
}

/// A target that changes its sign when tokens are exchanged: exchanged tokens are to the student a
/// shift e of the other sign, which is also z of the other sign, and that the target does not mind.
/// So the student sees nothing of it, and the risk depends on e alone.
TEST(SsiOrigin, ThePositionIsFeltWhereNothingOfTheTargetIsSeen) {
  const auto x = exponents(with_attention("z1^2 - z2^2", 2, Reduction::trace, true));
  EXPECT_EQ(x.sie, 2);
  EXPECT_FALSE(x.s_eff);
  EXPECT_EQ(x.sie_positional, 2);
  EXPECT_FALSE(x.sie_descending);
  EXPECT_NEAR(x.origin.curvature_e().value, 2.07600821431 / 2, tenth_digit);
  EXPECT_EQ(x.samples, "never");
}

/// A component along the teacher that is c times the one across it gives R_0(e + c m, m) [ssi 41].
TEST(SsiOrigin, EncodingsThatSeeTheTeacherMoveEByM) {
  constexpr double c = 0.7;
  SequenceModel model = with_attention("He2(z1)+2*He2(z2)+z1", 2, Reduction::trace, true);
  const OriginExpansion usual = exponents(model).origin;
  model.encodings = reduced_encodings({{c, 1.0}, {-c, -1.0}});
  const OriginExpansion moved = exponents(model).origin;
  for (std::size_t k = 1; k <= 4; ++k) {
    for (std::size_t s = 0; s <= k; ++s) {
      // The coefficient of e^(k-s) m^s in sum_i taylor[i][k-i] (e + c m)^i m^(k-i).
      double expected = 0.0;
      double binomial = 1.0;
      for (std::size_t i = k - s; i <= k; ++i) {
        const std::size_t powers = i - (k - s);
        if (powers > 0) {
          binomial *= static_cast<double>(i) / static_cast<double>(powers);
        }
        expected += usual.taylor[i][k - i].value * binomial * std::pow(c, powers);
      }
      EXPECT_NEAR(moved.taylor[k - s][s].value, expected, tenth_digit);
    }
  }
  EXPECT_EQ(moved.visible[2].value, usual.visible[2].value);
}

TEST(SsiOrigin, TheTraceNormalisationDecidesFigureTwo) {
  const std::string target = "4/3 + He4(z1) + 2*He4(z2)";
  const auto plain = exponents(with_attention(target, 2, Reduction::trace, true));
  const auto root = exponents(with_attention(target, 2, Reduction::trace_sqrt, true));
  EXPECT_NEAR(plain.origin.curvature_e().value, 0.0952, tolerance::fourth_digit);
  EXPECT_NEAR(root.origin.curvature_e().value, -0.1477, tolerance::fourth_digit);
  EXPECT_FALSE(plain.sie_descending);
  EXPECT_EQ(root.sie_descending, 2);
}

TEST(SsiOrigin, AConstantIsNothingToLearnAndAHighDegreeIsOutOfReach) {
  const auto says = [](const char* target, const char* words) {
    return exponents(with_attention(target, 2, Reduction::trace, false)).meaning.find(words) == 0;
  };
  EXPECT_TRUE(says("3", "Nothing to learn"));
  EXPECT_TRUE(says("0", "Nothing to learn"));
  EXPECT_TRUE(says("He10(z1)", "Out of reach"));
  EXPECT_TRUE(says("3 + He10(z1)", "Out of reach"));
}

TEST(SsiOrigin, TiedStudentsAreBlindToDifferences) {
  EXPECT_FALSE(exponents(with_student("z1 - z2", 2, "tied")).s_eff);
  EXPECT_FALSE(exponents(with_student("z1^2 - z2^2", 2, "tied")).s_eff);
  const auto odd = exponents(with_student("z1 - z2", 2, "untied"));
  EXPECT_EQ(odd.s_eff, 1);
  EXPECT_EQ(odd.sign, 1);
  const auto difference = exponents(with_student("z1^2 - z2^2", 2, "untied"));
  EXPECT_EQ(difference.s_eff, 2);
  EXPECT_EQ(difference.sign, 1);
  EXPECT_NE(exponents(with_student("z1 - z2", 2, "tied")).meaning.find("never learned"),
            std::string::npos);
}

TEST(SsiOrigin, TiedReluOnTheSumOfSquares) {
  const double c2 = 0.5 * std::numbers::inv_sqrtpi;  // E[relu h_2]
  for (const std::size_t tokens : {2u, 16u}) {
    const auto x = exponents(with_student("H2sum", tokens, "tied"));
    EXPECT_NEAR(x.origin.curvature_m().value, -2 * c2, eighth_digit);
    EXPECT_EQ(x.samples, "d log d");
  }
}

TEST(SsiOrigin, SampledCurvaturesAgreeWithQuadrature) {
  // Three tokens by quadrature, and the same model in disguise as one of four, whose last token
  // enters neither target nor student.
  SequenceModel three;
  three.target = read_target("He2(z1) + z2*z3", 3);
  three.student.link = expression_link("sigmoid(z1^2 - z2*z3)", 3);
  SequenceModel four;
  four.target = read_target("He2(z1) + z2*z3", 4);
  four.student.link = expression_link("sigmoid(z1^2 - z2*z3)", 4);
  const auto exact = exponents(three).origin.curvature_m();
  const auto sampled = exponents(four).origin.curvature_m();
  EXPECT_GT(sampled.error, 0.0);
  EXPECT_NEAR(sampled.value, exact.value, 6 * sampled.error);
}

}  // namespace
}  // namespace onset::ssi
