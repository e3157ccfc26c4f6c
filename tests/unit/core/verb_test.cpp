#include "onset/core/verb.hpp"

#include <gtest/gtest.h>

namespace onset {
namespace {

TEST(Verb, SeedAndToleranceFollowItsOwnParameters) {
  Verb verb;
  verb.parameters.resize(1);
  verb.parameters[0].name = "layers";
  verb.primary = "alpha";
  verb.default_tol = 1e-3;
  const auto all = effective_parameters(verb);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "layers");
  EXPECT_EQ(all[1].name, "seed");
  EXPECT_EQ(all[1].fallback, Value(std::int64_t{1}));
  EXPECT_EQ(all[2].name, "tol");
  EXPECT_EQ(all[2].fallback, Value(1e-3));
  EXPECT_NE(all[2].text.find("alpha"), std::string::npos);
  EXPECT_NO_THROW((void)complete(all, {}));
}

TEST(Verb, AnExactVerbMayHaveAToleranceOfZero) {
  EXPECT_NO_THROW((void)complete(effective_parameters(Verb{}), {}));
}

TEST(Verb, StatusesHaveTheNamesOfTheContract) {
  EXPECT_EQ(to_string(ResultStatus::ok), "ok");
  EXPECT_EQ(to_string(ResultStatus::unconverged), "unconverged");
  EXPECT_EQ(to_string(ResultStatus::refused), "refused");
  EXPECT_EQ(to_string(ResultStatus::interrupted), "interrupted");
}

}  // namespace
}  // namespace onset
