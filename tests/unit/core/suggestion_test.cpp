#include "core/suggestion.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onset {
namespace {

const std::vector<std::string> words = {"thresholds", "curve", "json", "table"};

TEST(Suggestion, SwappedNeighboursAreOneSlip) {
  EXPECT_EQ(nearest_word("josn", words), "json");
}

TEST(Suggestion, AMissingLetterIsForgiven) {
  EXPECT_EQ(nearest_word("tresholds", words), "thresholds");
}

TEST(Suggestion, OfWordsAsNearALetterLeftOutIsLikelierThanAWrongOne) {
  const std::vector<std::string> functions = {"sin", "sinh", "sign"};
  EXPECT_EQ(nearest_word("sgn", functions), "sign");
}

TEST(Suggestion, CaseDoesNotMatter) {
  EXPECT_EQ(nearest_word("JSON", words), "json");
}

TEST(Suggestion, TheBeginningOfAWordIsEnough) {
  EXPECT_EQ(nearest_word("thr", words), "thresholds");
}

TEST(Suggestion, NothingIsSuggestedForAnUnrelatedWord) {
  EXPECT_EQ(nearest_word("banana", words), "");
  EXPECT_EQ(nearest_word("", words), "");
  EXPECT_EQ(suggestion("banana", words), "");
}

TEST(Suggestion, HalfOfAShortWordMayNotBeWrong) {
  const std::vector<std::string> options = {"dim", "rate", "steps"};
  EXPECT_EQ(nearest_word("time", options), "");
  EXPECT_EQ(nearest_word("dims", options), "dim");
  EXPECT_EQ(nearest_word("rat", options), "rate");
}

TEST(Suggestion, AVeryLongWordIsNotCompared) {
  EXPECT_EQ(nearest_word(std::string(100'000, 'c'), words), "");
}

TEST(Suggestion, ASuggestionIsAQuestion) {
  EXPECT_EQ(suggestion("curv", words), "; did you mean 'curve'?");
}

}  // namespace
}  // namespace onset
