#include "core/prose.hpp"

#include <gtest/gtest.h>

namespace onset {
namespace {

TEST(Prose, TurnsLineBreaksAndTheBlanksAroundThemIntoOneBlank) {
  EXPECT_EQ(prose(R"(
      One sentence
      over three

      lines.
  )"),
            "One sentence over three lines.");
}

TEST(Prose, LeavesBlanksInsideAndAtTheEndsOfALineAlone) {
  EXPECT_EQ(prose("two  blanks and one at the end "), "two  blanks and one at the end ");
  EXPECT_EQ(prose(" at the beginning"), " at the beginning");
}

TEST(Prose, HasNothingToSayOfNothing) {
  EXPECT_EQ(prose(""), "");
  EXPECT_EQ(prose("\n  \n"), "");
}

TEST(Prose, FormatsArgumentsAndLeavesTheirOwnLineBreaksAlone) {
  EXPECT_EQ(prose(R"(
      {} of {:.2f}
      runs)",
                  "two\nlines", 0.5),
            "two\nlines of 0.50 runs");
}

}  // namespace
}  // namespace onset
