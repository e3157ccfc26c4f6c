#include "core/field_names.hpp"

#include <gtest/gtest.h>

namespace onset {
namespace {

TEST(FieldNames, HaveUnderscoresInCodeAndHyphensOnTheCommandLine) {
  EXPECT_EQ(field_name("token-correlation"), "token_correlation");
  EXPECT_EQ(parameter_name("token_correlation"), "token-correlation");
}

TEST(FieldNames, BecomeOptionsForTheCommand) {
  EXPECT_EQ(with_options("more `runs` may help"), "more --runs may help");
  EXPECT_EQ(with_options("allowed: with `engine = chain`, or `max_degree = 2 or 3`"),
            "allowed: with --engine chain, or --max-degree 2 or 3");
}

TEST(FieldNames, BecomeKeysForStudyFiles) {
  EXPECT_EQ(with_keys("see `token_correlation` and `rho = 0`"),
            "see `token-correlation` and `rho = 0`");
}

TEST(FieldNames, AreNotFoundWhereThereAreNone) {
  for (const char* text : {"", "plain", "a ` alone", "`two words`", "``", "`A`"}) {
    EXPECT_EQ(with_options(text), text);
    EXPECT_EQ(with_keys(text), text);
  }
  EXPECT_EQ(with_options("a ` alone, then `runs`"), "a ` alone, then --runs");
}

}  // namespace
}  // namespace onset
