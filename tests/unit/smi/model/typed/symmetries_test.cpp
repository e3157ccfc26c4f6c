#include "smi/model/typed/symmetries.hpp"

#include <gtest/gtest.h>

namespace onset::smi {
namespace {

std::size_t count(const std::string& text, LabelUnder under) {
  return signed_symmetries(TypedLink(text, 0.0), under).size();
}

TEST(Symmetries, SignedPermutationsAreCounted) {
  // z1 and z2 may be exchanged and change sign together; alone, the label changes sign.
  EXPECT_EQ(count("z1*z2", LabelUnder::same), 4U);
  EXPECT_EQ(count("z1*z2", LabelUnder::renamed), 8U);
  EXPECT_EQ(count("z1+z2^3", LabelUnder::same), 1U);
  EXPECT_EQ(count("z1+z2^3", LabelUnder::renamed), 2U);
  EXPECT_EQ(count("z1^2+z2^2", LabelUnder::same), 8U);
}

TEST(Symmetries, AConstantMayBeAdded) {
  EXPECT_EQ(count("step(z1)", LabelUnder::same), 1U);
  EXPECT_EQ(count("step(z1)", LabelUnder::renamed), 2U);
}

TEST(Symmetries, FieldsThatAreNotReadAllowNoExchange) {
  EXPECT_EQ(count("z1_1*z2_2", LabelUnder::same), 2U);
}

}  // namespace
}  // namespace onset::smi
