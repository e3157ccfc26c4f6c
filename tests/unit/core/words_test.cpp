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

}  // namespace
}  // namespace onset
