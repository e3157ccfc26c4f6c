#include "smi/limits/typed/label_rule.hpp"

#include <gtest/gtest.h>

namespace onset::smi {
namespace {

// Along lines z1 z2 is a parabola, and sin(3 z1 z2) turns dozens of times.
TEST(LabelRule, LinksThatTurnOftenAreSaidToBeDear) {
  EXPECT_EQ(turning_effort(TypedLink("z1*z2", 0.0)), 1.0);
  EXPECT_EQ(turning_effort(TypedLink("max(z1,z2)", 0.0)), 1.0);
  constexpr double dear = 50.0;
  EXPECT_GT(turning_effort(TypedLink("sin(3*z1*z2)", 0.0)), dear);
}

}  // namespace
}  // namespace onset::smi
