#include "onset/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onset {
namespace {

TEST(Error, AZeroInANameDoesNotEndTheMessage) {
  const std::string name("a\0b", 3);
  EXPECT_STREQ(IoError(name, "cannot be opened").what(), "a\\x00b: cannot be opened");
  EXPECT_STREQ(InvalidArgument("field", name).what(), "field: a\\x00b");
  EXPECT_EQ(IoError(name, "").path(), name);
}

}  // namespace
}  // namespace onset
