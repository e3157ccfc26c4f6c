#include "smi/limits/typed/typed_checks.hpp"

#include <gtest/gtest.h>

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

TEST(TypedChecks, MissingLabelsAreDoubted) {
  EXPECT_NE(doubt_in(averages(0.0, 0.01, 0.9)).find("labels"), std::string::npos);
}

}  // namespace
}  // namespace onset::smi
