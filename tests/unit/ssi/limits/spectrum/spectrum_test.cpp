#include "onset/ssi/limits/spectrum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

/// The square of a logarithm at 0 is integrated to eight digits.
constexpr double of_a_logarithm = 1e-8;
/// The number of the theory has twelve digits, the weight nine.
constexpr double tenth_digit = 1e-9;

int sie(const std::string& target, std::size_t tokens = 2) {
  const auto spectrum = target_spectrum(*read_target(target, tokens), {}, {});
  EXPECT_EQ(spectrum.verdict(), Presence::present) << target;
  return static_cast<int>(spectrum.exponent());
}

TEST(SsiSpectrum, OfSmoothAndPolynomialTargets) {
  EXPECT_EQ(sie("z1 - z2"), 1);
  EXPECT_EQ(sie("He2(z1) + He2(z2)"), 2);
  EXPECT_EQ(sie("z1*z2"), 2);
  EXPECT_EQ(sie("He3(z1) + 5"), 3);
  EXPECT_EQ(sie("-He4(z1) - 2He4(z2)"), 4);
  EXPECT_EQ(sie("cos(z1)"), 2);
  EXPECT_EQ(sie("tanh(z1*z2*z3)", 3), 3);
  EXPECT_EQ(sie("prod(z)", 4), 4);
  EXPECT_EQ(sie("softmax"), 2);
  EXPECT_EQ(sie("sum(h2(z))", 32), 2);
  EXPECT_EQ(sie("1e-6*z1 + He4(z2)"), 1) << "small, but exactly there";
}

TEST(SsiSpectrum, OfTargetsWithJumpsAndKinks) {
  EXPECT_EQ(sie("sign(z1*z2)"), 2);
  EXPECT_EQ(sie("sign(z1*z2) - 2/pi*z1*z2"), 4);
  EXPECT_EQ(sie("abs(z1) - (z1^2 - 1)/sqrt(2*pi)"), 4);
  EXPECT_EQ(sie("sign(z1)"), 1);
  EXPECT_EQ(sie("relu(z1)"), 1);
}

/// E[|z| h_2] = 1/sqrt(pi), E[relu(z) h_2] = 1/(2 sqrt(pi)), E[max h_2] = 1/(4 sqrt(pi)) ..: values
/// that a uniform rule of affordable size has to four digits.
TEST(SsiSpectrum, WeightsOfTargetsWithKinksAreExact) {
  constexpr double rounding = 1e-13;
  const auto weight = [](const std::string& target, std::size_t tokens) {
    return target_spectrum(*read_target(target, tokens), {}, {}).degrees[2].weight.value;
  };
  EXPECT_NEAR(weight("sum(abs(z))", 5), 5.0 / std::numbers::pi, 5.0 * rounding);
  EXPECT_NEAR(weight("relu(z1) - relu(z2)", 2), 0.5 / std::numbers::pi, rounding);
  EXPECT_NEAR(weight("max(z1, z2)", 2), 0.5 / std::numbers::pi, rounding);
  EXPECT_NEAR(weight("sign(z1*z2)", 2), 4.0 / std::pow(std::numbers::pi, 2), rounding);
}

TEST(SsiSpectrum, AConstantIsAbsentAndAnInfiniteTargetRefused) {
  EXPECT_EQ(target_spectrum(*read_target("3", 2), {}, {}).verdict(), Presence::absent);
  EXPECT_EQ(target_spectrum(*read_target("He11(z1)", 2), {}, {}).verdict(), Presence::absent);
  EXPECT_THROW((void)target_spectrum(*read_target("exp(z1^2/4)", 2), {}, {}), Refused);
  EXPECT_THROW((void)target_spectrum(*read_target("log(z1)", 2), {}, {}), Refused);
}

TEST(SsiSpectrum, OfALogarithmIsThatOfItsFiniteSquare) {
  // log|z|: variance pi^2/8, E[log|z| h_2] = 1/sqrt(2).
  const auto spectrum = target_spectrum(*expression_link("log(abs(z1))", 1), {}, {});
  EXPECT_EQ(spectrum.exponent(), 2U);
  EXPECT_NEAR(spectrum.square - spectrum.degrees[0].weight.value,
              std::numbers::pi * std::numbers::pi / 8.0, of_a_logarithm);
  EXPECT_NEAR(spectrum.degrees[2].weight.value, 0.5, tolerance::magnified_roundings);
  for (const char* text : {"1/abs(z1)", "1/sqrt(abs(z1))", "exp(z1^2)*log(abs(z1))"}) {
    EXPECT_THROW((void)target_spectrum(*expression_link(text, 1), {}, {}), Refused) << text;
  }
}

TEST(SsiSpectrum, TheDirectionalTestSeesDegreesOfManyTokens) {
  const auto spectrum = target_spectrum(*read_target("sin(sum(z)/4)^2", 16), {}, {});
  EXPECT_FALSE(spectrum.exact);
  EXPECT_EQ(spectrum.degrees[1].presence, Presence::absent);
  EXPECT_EQ(spectrum.degrees[2].presence, Presence::present);
  EXPECT_EQ(spectrum.exponent(), 2u);
}

TEST(SsiSpectrum, WeightsOfSoftmaxAreThoseOfTheTheory) {
  const auto spectrum = target_spectrum(*read_target("softmax", 2), {}, {});
  double total = spectrum.square - spectrum.degrees[0].weight.value;
  EXPECT_NEAR(spectrum.degrees[2].weight.value, 0.110251168891, tenth_digit);
  EXPECT_NEAR(spectrum.degrees[2].weight.value / total, 0.7415, tolerance::fourth_digit);
  EXPECT_NEAR(spectrum.degrees[4].weight.value / total, 0.1890, tolerance::fourth_digit);
  EXPECT_NEAR(spectrum.degrees[6].weight.value / total, 0.0513, tolerance::fourth_digit);
}

}  // namespace
}  // namespace onset::ssi
