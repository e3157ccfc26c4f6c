#include "onset/core/verb.hpp"

#include <gtest/gtest.h>

#include "support/complaint.hpp"

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

/// Eight bytes for every one of `items`.
Verb hungry() {
  Verb verb;
  verb.family = "toy";
  verb.name = "hoard";
  verb.cost = [](const Parameters& p) { return Cost{"", 0.0, 8.0 * p.real("items")}; };
  return verb;
}

std::string memory_complaint(double items, std::size_t limit) {
  Parameters parameters;
  parameters.set("items", items);
  return testing::complaint([&] { require_memory(hungry(), parameters, limit); });
}

TEST(Verb, ARunThatNeedsMoreMemoryThanThereIsSaysItsNeedAndTheLimit) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  EXPECT_EQ(memory_complaint(1e10, 4 * gibibyte),
            "toy hoard: needs about 75 GiB of memory with these parameters; allowed: 4.0 GiB here");
  EXPECT_EQ(memory_complaint(1e6, 512),
            "toy hoard: needs about 7.6 MiB of memory with these parameters; allowed: 512 bytes "
            "here");
}

TEST(Verb, ARunThatFitsOrHasNoEstimateMayStart) {
  EXPECT_EQ(memory_complaint(128.0, 1024), "none");
  EXPECT_NO_THROW(require_memory(Verb{}, Parameters{}, 1));
}

}  // namespace
}  // namespace onset
