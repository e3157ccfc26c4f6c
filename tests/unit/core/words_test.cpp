#include "onset/core/words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onset {
namespace {

const std::vector<std::string> words = {"thresholds", "curve", "json", "table"};

TEST(Words, SwappedNeighboursAreOneSlip) {
  EXPECT_EQ(nearest_word("josn", words), "json");
}

TEST(Words, AMissingLetterIsForgiven) {
  EXPECT_EQ(nearest_word("tresholds", words), "thresholds");
}

TEST(Words, CaseDoesNotMatter) {
  EXPECT_EQ(nearest_word("JSON", words), "json");
}

TEST(Words, TheBeginningOfAWordIsEnough) {
  EXPECT_EQ(nearest_word("thr", words), "thresholds");
}

TEST(Words, NothingIsSuggestedForAnUnrelatedWord) {
  EXPECT_EQ(nearest_word("banana", words), "");
  EXPECT_EQ(nearest_word("", words), "");
  EXPECT_EQ(suggestion("banana", words), "");
}

TEST(Words, AVeryLongWordIsNotCompared) {
  EXPECT_EQ(nearest_word(std::string(100'000, 'c'), words), "");
}

TEST(Words, ASuggestionIsAQuestion) {
  EXPECT_EQ(suggestion("curv", words), "; did you mean 'curve'?");
}

TEST(Words, WhatATerminalWouldObeyIsWrittenOut) {
  EXPECT_EQ(printable("a\x1b[2Jb\x7f"), "a\\x1b[2Jb\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // the same as one character
  EXPECT_EQ(printable("two\n\tlines"), "two\n\tlines");
  EXPECT_EQ(in_quotes("two\nlines"), "'two\\x0alines'");
}

TEST(Words, OnlyBytesThatAreNotUtf8AreWrittenOut) {
  EXPECT_EQ(printable("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e"),
            "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xc0\xaf \xed\xa0\x80 \xf5\x80\x80\x80"),
            "\\xc0\\xaf \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
}

TEST(Words, OfALongTextTheEndsAreShown) {
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
