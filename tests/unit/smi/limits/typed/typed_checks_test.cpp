#include "smi/limits/typed/typed_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

std::vector<TypedAverages> averages(double defect, double scatter, double mass) {
  std::vector<TypedAverages> out;
  for (int r = 0; r < 8; ++r) {
    TypedAverages one;
    one.defect = Eigen::MatrixXd::Constant(1, 1, defect + (r % 2 == 0 ? scatter : -scatter));
    one.mass = mass;
    out.push_back(one);
  }
  return out;
}

TEST(TypedChecks, ADefectBeyondItsScatterIsDoubted) {
  EXPECT_EQ(doubt_in(averages(0.0, 0.01, 1.0)), "");
  EXPECT_EQ(doubt_in(averages(0.01, 0.01, 1.0)), "");
  EXPECT_NE(doubt_in(averages(0.05, 1e-3, 1.0)).find("second moments"), std::string::npos);
}

TEST(TypedChecks, ADefectThatRatiosExplainIsNotDoubted) {
  auto biased = averages(0.01, 1e-3, 1.0);
  EXPECT_NE(doubt_in(biased), "");
  for (TypedAverages& one : biased) one.ratio_bias = 0.01;
  EXPECT_EQ(doubt_in(biased), "");
}

TEST(TypedChecks, MissingLabelsAreDoubted) {
  EXPECT_NE(doubt_in(averages(0.0, 0.01, 0.9)).find("labels"), std::string::npos);
}

// All labels beyond 4 on both sides: their mass, and what they lack of E(z^2 - 1) = 0, give the
// weights that are missing up to a factor.
TEST(TypedChecks, LabelsFarOutThatWereMissedWeighMore) {
  const double edge = 4.0;
  const double density = std::exp(-0.5 * edge * edge) / std::sqrt(2.0 * std::numbers::pi);
  const double mass = std::erfc(edge / std::numbers::sqrt2);
  const double excess = 2.0 * edge * density;
  const double second = 0.5 * (2.0 * (edge * edge * edge + edge) * density + 2.0 * mass);
  EXPECT_GT(missed_weight(mass, excess, 1), excess + mass);
  EXPECT_GT(missed_weight(mass, excess, 2), second);
  EXPECT_LT(missed_weight(mass, excess, 2), 6.0 * second);
  // Nearer ones are like all others, and what is not missing weighs nothing.
  EXPECT_EQ(missed_weight(mass, 0.0, 2), 0.0);
  EXPECT_EQ(missed_weight(0.0, 0.0, 2), 0.0);
}

}  // namespace
}  // namespace onset::smi
