#include "device/device.hpp"

#include <gtest/gtest.h>

#include "device/tokens.hpp"
#include "onset/core/error.hpp"

namespace onset::device {
namespace {

TEST(Device, WithoutOneTheProcessorIsChosenAndTheReasonGiven) {
  if (device().plugin != nullptr) GTEST_SKIP() << "this machine has " << device().text;
  EXPECT_EQ(settle(DeviceKind::automatic), DeviceKind::cpu);
  EXPECT_EQ(settle(DeviceKind::cpu), DeviceKind::cpu);
  EXPECT_THROW((void)settle(DeviceKind::gpu), Refused);
  EXPECT_THROW(Tokens({1, 2, 3}, OnsetDraws{}), Refused);
  EXPECT_NE(device().text.find("ONSET_DEVICE_PLUGIN"), std::string::npos);
}

TEST(Device, KindsHaveTheirWords) {
  EXPECT_EQ(to_string(DeviceKind::cpu), "cpu");
  EXPECT_EQ(to_string(DeviceKind::gpu), "gpu");
  EXPECT_EQ(to_string(DeviceKind::automatic), "auto");
}

}  // namespace
}  // namespace onset::device
