#include "core/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace onset {
namespace {

TEST(Printable, WhatATerminalWouldObeyIsWrittenOut) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f"), "a\\x1b[2Jb\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // the same as one character
  EXPECT_EQ(printable("two\n\tlines"), "two\n\tlines");
  EXPECT_EQ(in_quotes("two\nlines"), "'two\\x0alines'");
}

TEST(Printable, WhatTurnsTheDirectionOrEndsALineUnseenIsWrittenOut) {
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b\xd8\x9c"),
            "a\\xe2\\x80\\xaeb\\xd8\\x9c");
  EXPECT_EQ(one_line("\xe2\x80\xa8 \xe2\x80\x8f \xe2\x81\xa9 \n"),
            "\\xe2\\x80\\xa8 \\xe2\\x80\\x8f \\xe2\\x81\\xa9 \\x0a");
  EXPECT_EQ(one_line("\xe2\x80\x93 \xe2\x81\xaa"), "\xe2\x80\x93 \xe2\x81\xaa");  // a dash
}

TEST(Printable, OnlyBytesThatAreNotUtf8AreWrittenOut) {
  EXPECT_EQ(printable("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80"),
            "\\xc0\\xaf \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
}

TEST(Printable, OfALongTextTheEndsAreShown) {
  const std::string text = "begin" + std::string(100'000, 'x') + "end";
  const std::string shown = in_quotes(text);
  EXPECT_LT(shown.size(), 120U);
  EXPECT_TRUE(shown.starts_with("'beginxx")) << shown;
  EXPECT_TRUE(shown.ends_with("xxend'")) << shown;
  EXPECT_NE(shown.find("(99928 more)"), std::string::npos) << shown;
  EXPECT_EQ(in_quotes(std::string(longest_shown, 'x')).size(), longest_shown + 2);
}

}  // namespace
}  // namespace onset
