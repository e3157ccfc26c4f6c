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

// tanh is 1 to rounding beyond 19: a flat piece of numbers, and none of the link.
TEST(TypedLink, WithoutOuterFunctionsSaturatedLabelsAreNoAtoms) {
  const TypedLink link("tanh(10*z1^2), sign(z2)", 0.0);
  EXPECT_TRUE(TypedLink("tanh(10*z1^2)", 0.0).has_atoms());
  const TypedLink core = TypedLink("tanh(10*z1^2)", 0.0).up_to_injections();
  EXPECT_FALSE(core.has_atoms());
  const double z[2] = {3.0, -1.0};
  double values[2];
  link.up_to_injections().values(1, z, values);
  EXPECT_EQ(values[0], 9.0);
  EXPECT_EQ(values[1], -1.0);
  EXPECT_EQ(link.up_to_injections().switches(), 1u);
  // This one is finite with its outer function alone.
  double bounded = 0.0;
  TypedLink("atan(z1^800)", 0.0).up_to_injections().values(1, z, &bounded);
  EXPECT_LT(bounded, 2.0);
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
  expect_says(complaint("z99"), "above 64");
  expect_says(complaint("z1*z2*z3*z4*z5"), "refused: ");
  expect_says(complaint("log(z1)"), "refused: ");
  expect_says(complaint("z1-z1"), "same number for all fields");
  expect_says(complaint("sign(1+z1^2)"), "same number for all fields");
  expect_says(complaint("z1, z2, z1*z2, z1^2"), "refused: the link has 4 outputs; at most 3");
  expect_says(complaint("z1*z2, z3*z4"), "refused: the link has 2 outputs with a density");
  expect_says(complaint("z1, 2"), "number 2, that is the same number");
  expect_says(complaint("z1*z2, "), "^");
}

// The caret is below the place in the whole text, not in the output that has the mistake.
TEST(TypedLink, AMistakeInALaterOutputIsShownWhereItIs) {
  const std::string said = complaint("z1*z2, z2+*z3");
  expect_says(said, "z1*z2, z2+*z3");
  const std::size_t text = said.rfind("z1*z2, z2+*z3");
  const std::size_t line = said.rfind('\n', text) + 1;
  const std::size_t caret = said.find('^', text);
  const std::size_t caret_line = said.rfind('\n', caret) + 1;
  EXPECT_EQ(caret - caret_line, text - line + std::string("z1*z2, z2+").size()) << said;
}

TEST(TypedLink, AnEmptyOutputIsShownWhereItIs) {
  expect_says(complaint("z1^2,,z2"), "\n  z1^2,,z2\n       ^\n");
}

TEST(TypedLink, CommasPartOutputsAndNotArguments) {
  const TypedLink link("max(z1, z2), z1*z3", 0.0);
  EXPECT_EQ(link.outputs(), 2U);
  EXPECT_EQ(link.max_rank(), 2U);
  const double at[3] = {1.0, 2.0, 3.0};
  double values[2] = {0.0, 0.0};
  link.values(1, at, values);
  EXPECT_DOUBLE_EQ(values[0], 2.0);
  EXPECT_DOUBLE_EQ(values[1], 3.0);
  EXPECT_EQ(TypedLink("min(z1, z2)", 0.0).outputs(), 1U);
}

// Bits of the sets of outputs that change independently, piece by piece.
TEST(TypedLink, KnowsWhichOutputsHaveADensity) {
  using Sets = std::vector<unsigned>;
  EXPECT_EQ(TypedLink("z1, z1^2", 0.0).densities(), (Sets{1U}));
  EXPECT_EQ(TypedLink("z1, relu(z2)", 0.0).densities(), (Sets{1U, 3U}));
  EXPECT_EQ(TypedLink("sign(z1), z2", 0.0).densities(), (Sets{2U}));
  EXPECT_EQ(TypedLink("sign(z1), sign(z1*z2)", 0.0).densities(), (Sets{0U}));
  EXPECT_EQ(TypedLink("relu(z1), relu(z2)", 0.0).densities(), (Sets{0U, 1U, 2U, 3U}));
}

// Between two points of a scanned line one of them would hide another.
TEST(TypedLink, JumpsThatComeTooOftenAreRefused) {
  EXPECT_THROW(TypedLink("sign(sin(90*z1))", 0.0).refuse_dense_switches(), Refused);
  EXPECT_THROW(TypedLink("z1+sign(sin(20*z2))", 0.0).refuse_dense_switches(), Refused);
  // 4096 turns on a line of length 12: the same side at all of 4096 even steps.
  EXPECT_THROW(TypedLink("sign(sin(2144.660585*z1))", 0.0).refuse_dense_switches(), Refused);
  EXPECT_NO_THROW(TypedLink("sign(sin(20*z1))", 0.0).refuse_dense_switches());
  EXPECT_NO_THROW(TypedLink("z1+sign(sin(10*z2))", 0.0).refuse_dense_switches());
}

TEST(TypedLink, OutputsShareTheirSwitches) {
  EXPECT_EQ(TypedLink("relu(z1), relu(z1)*z2", 0.0).switches(), 1U);
  EXPECT_EQ(TypedLink("relu(z1), abs(z2)", 0.0).switches(), 2U);
}

TEST(TypedLink, EveryOutputHasNoiseOfItsOwn) {
  const TypedLink link("z1, z1^2", 0.5);
  EXPECT_EQ(link.fields().size(), 3U);
  EXPECT_EQ(link.max_rank(), 2U);
}

}  // namespace
}  // namespace onset::smi
