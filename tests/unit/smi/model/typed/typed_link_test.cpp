#include "smi/model/typed/typed_link.hpp"

#include <gtest/gtest.h>

#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

std::string complaint(const std::string& text, double noise = 0.0) {
  try {
    (void)TypedLink(text, noise);
  } catch (const InvalidArgument& e) {
    return e.what();
  } catch (const Refused& e) {
    return std::string("refused: ") + e.what();
  }
  return "";
}

void expect_says(const std::string& said, const std::string& part) {
  EXPECT_NE(said.find(part), std::string::npos) << said << "\n  should say: " << part;
}

TEST(TypedLink, KeepsTheFieldsThatOccur) {
  const TypedLink link("z3*z1 + e2", 0.0);
  EXPECT_EQ(link.directions(), 3U);
  EXPECT_EQ(link.tokens(), 1U);
  ASSERT_EQ(link.fields().size(), 3U);
  EXPECT_FALSE(link.fields()[0].direction.has_value());
  EXPECT_EQ(link.fields()[1].direction, 0U);
  EXPECT_EQ(link.fields()[2].direction, 2U);
}

TEST(TypedLink, ReadsTokensAfterAnUnderscore) {
  const TypedLink link("z1_1*z1_3 + z2_1", 0.0);
  EXPECT_EQ(link.directions(), 2U);
  EXPECT_EQ(link.tokens(), 3U);
  ASSERT_EQ(link.fields().size(), 3U);
  EXPECT_EQ(link.fields()[1].token, 2U);
}

TEST(TypedLink, NoiseIsAnotherField) {
  const TypedLink link("z1^2", 0.5);
  ASSERT_EQ(link.fields().size(), 2U);
  const double at[2] = {2.0, 3.0};  // e1, z1
  double value = 0.0;
  link.values(1, at, &value);
  EXPECT_DOUBLE_EQ(value, 10.0);
  EXPECT_FALSE(link.has_atoms());
}

TEST(TypedLink, KnowsAtoms) {
  EXPECT_TRUE(TypedLink("sign(z1*z2)", 0.0).is_discrete());
  EXPECT_TRUE(TypedLink("relu(z1)", 0.0).has_atoms());
  EXPECT_FALSE(TypedLink("relu(z1)", 0.0).is_discrete());
  EXPECT_FALSE(TypedLink("abs(z1)", 0.0).has_atoms());
  EXPECT_FALSE(TypedLink("sign(z1)", 0.1).has_atoms());
}

TEST(TypedLink, NumbersWithExponentsAreNoNoise) {
  EXPECT_EQ(TypedLink("2e1*z1", 0.0).fields().size(), 1U);
}

TEST(TypedLink, BadTextsAreExplained) {
  expect_says(complaint("z1+*z2"), "^");
  expect_says(complaint("y1+z1"), "y1");
  expect_says(complaint("x\x1b]0"), "^");
  expect_says(complaint("exp(2)"), "depends on no field");
  expect_says(complaint("e1+e2"), "depends on no field");
  expect_says(complaint("z1 + z2_2"), "does not say its token");
  expect_says(complaint("z99"), "index above");
  expect_says(complaint("z1*z2*z3*z4*z5"), "refused: ");
  expect_says(complaint("log(z1)"), "refused: ");
  expect_says(complaint("z1-z1"), "same number for all fields");
  expect_says(complaint("sign(1+z1^2)"), "same number for all fields");
  expect_says(complaint("z1, z2"), "one output");
}

}  // namespace
}  // namespace onset::smi
