#include "smi/learners/vocabulary.hpp"

#include <gtest/gtest.h>

#include "smi/learners/text_training.hpp"

namespace onset::smi {
namespace {

using Words = std::vector<std::string>;

TEST(Vocabulary, SplitsWordsFromPunctuationInLowerCase) {
  EXPECT_EQ(split_words("What's  the U.S. GDP?"),
            (Words{"what", "'", "s", "the", "u", ".", "s", ".", "gdp", "?"}));
  EXPECT_EQ(split_words("``1984''"), (Words{"`", "`", "1984", "'", "'"}));
  EXPECT_TRUE(split_words(" \t\xa0 ").empty());
}

TEST(Vocabulary, KnowsTheLettersOfLatin1) {
  EXPECT_EQ(split_words("\xc9T\xc9 3\xd7"
                        "4"),
            (Words{"\xe9t\xe9", "3", "\xd7", "4"}));
  EXPECT_EQ(split_words("stra\xdf"
                        "e\xf7"),
            (Words{"stra\xdf"
                   "e",
                   "\xf7"}));
}

TEST(Vocabulary, NumbersWordsInTheirOrderAfterPaddingAndUnknown) {
  const Vocabulary vocabulary({"b a b", "c A"}, 1);
  EXPECT_EQ(vocabulary.size(), 5);
  EXPECT_EQ(vocabulary.numbers("a b c"), (std::vector<std::int64_t>{3, 2, 4}));
  EXPECT_EQ(vocabulary.numbers("d B"), (std::vector<std::int64_t>{unknown_word, 2}));
}

TEST(Vocabulary, LeavesRareWordsOut) {
  const Vocabulary vocabulary({"b a b", "c A"}, 2);
  EXPECT_EQ(vocabulary.size(), 4);
  EXPECT_EQ(vocabulary.numbers("a b c"), (std::vector<std::int64_t>{3, 2, unknown_word}));
}

}  // namespace
}  // namespace onset::smi
