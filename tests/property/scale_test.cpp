#include "support/scale.hpp"

#include <gtest/gtest.h>

#include "support/complaint.hpp"

namespace onset::testing {
namespace {

TEST(TestScale, IsARealNumberAndOneUnlessSet) {
  EXPECT_EQ(parse_scale(nullptr), 1.0);
  EXPECT_EQ(parse_scale(""), 1.0);
  EXPECT_EQ(parse_scale("0.1"), 0.1);
  EXPECT_EQ(parse_scale("20"), 20.0);
}

TEST(TestScale, RefusesWhatIsNoFactor) {
  for (const char* nonsense : {"0", "-1", "many", "2x", "nan", "inf", "1e9"}) {
    EXPECT_EQ(wrong_field([&] { (void)parse_scale(nonsense); }), "ONSET_TEST_SCALE") << nonsense;
  }
}

}  // namespace
}  // namespace onset::testing
