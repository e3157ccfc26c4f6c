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

// 64 normals lie below 2.6, and most samples below 4.
TEST(Symmetries, WhatHoldsOnlyWhereMostFieldsLieIsNone) {
  EXPECT_EQ(count("sign(z1-2.6)", LabelUnder::renamed), 1U);
  EXPECT_EQ(count("z1^2+relu(z1-4)", LabelUnder::same), 1U);
  EXPECT_EQ(count("z1*z2+relu(z1-5)", LabelUnder::same), 1U);
  EXPECT_EQ(count("z1*z2+sign(z2-5.5)", LabelUnder::same), 1U);
}

// Beyond 4.8 it is infinite, on both sides.
TEST(Symmetries, InfiniteValuesFarOutAreOnBothSides) {
  EXPECT_EQ(count("exp(30*z1^2)", LabelUnder::same), 2U);
  EXPECT_EQ(count("exp(30*z1^2)+z1", LabelUnder::same), 1U);
}

// Sums of large numbers in another order differ by more than rounding of their result.
TEST(Symmetries, RoundingHidesNone) {
  EXPECT_EQ(count("z1^6+z2^6+z3^6-15*(z1^4+z2^4+z3^4)", LabelUnder::same), 48U);
}

// Two signs and any order of three factors.
TEST(Symmetries, MapsOfFieldsKeepTheLabelAndTheNoise) {
  const TypedLink link("z1*z2*z3+e1", 0.0);
  const auto maps = field_symmetries(link);
  EXPECT_EQ(maps.size(), 24U);
  const Eigen::Vector4d at(0.3, -1.2, 0.7, 0.4);
  Eigen::Index noise = 0;
  while (link.fields()[static_cast<std::size_t>(noise)].direction) ++noise;
  double before = 0.0;
  link.values(1, at.data(), &before);
  constexpr double rounding = 1e-15;
  for (const Eigen::MatrixXd& map : maps) {
    const Eigen::Vector4d there = map * at;
    double after = 0.0;
    link.values(1, there.data(), &after);
    EXPECT_NEAR(after, before, rounding);
    EXPECT_EQ(there(noise), at(noise));
  }
}

// A field that is read in one token alone has no place elsewhere.
TEST(Symmetries, MapsOfFieldsStayWithinAToken) {
  const auto maps = field_symmetries(TypedLink("z1_1*z2_1+z1_2*z2_2", 0.0));
  ASSERT_FALSE(maps.empty());
  for (const Eigen::MatrixXd& map : maps) {
    EXPECT_TRUE((map * map.transpose()).isIdentity(0.0));
  }
}

}  // namespace
}  // namespace onset::smi
