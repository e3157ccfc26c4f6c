#include "onset/core/verb.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/complaint.hpp"

namespace onset {
namespace {

TEST(Verb, StatusesHaveTheNamesOfTheContract) {
  EXPECT_EQ(to_string(ResultStatus::ok), "ok");
  EXPECT_EQ(to_string(ResultStatus::unconverged), "unconverged");
  EXPECT_EQ(to_string(ResultStatus::refused), "refused");
  EXPECT_EQ(to_string(ResultStatus::interrupted), "interrupted");
}

std::string memory_complaint(double bytes, std::size_t limit) {
  Verb verb;
  verb.family = "toy";
  verb.name = "hoard";
  Call call;
  call.cost.memory_bytes = bytes;
  return testing::complaint([&] { require_memory(verb, call, limit); });
}

TEST(Verb, ARunThatNeedsMoreMemoryThanThereIsSaysItsNeedAndTheLimit) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  EXPECT_EQ(memory_complaint(8e10, 4 * gibibyte),
            "toy hoard: needs about 75 GiB of memory with these parameters; allowed: 4.0 GiB here");
  EXPECT_EQ(memory_complaint(8e6, 512),
            "toy hoard: needs about 7.6 MiB of memory with these parameters; allowed: 512 bytes "
            "here");
}

TEST(Verb, ARunThatFitsMayStart) {
  EXPECT_EQ(memory_complaint(1024.0, 1024), "none");
}

TEST(Verb, AnErrorOfTheSystemAboutAFileNamesTheFile) {
  Call call;
  call.run = [](const Context&, Result&) {
    throw std::filesystem::filesystem_error("f", "data/X.npy",
                                            std::make_error_code(std::errc::permission_denied));
  };
  Verb verb;
  verb.rows = {{"", {}}};
  EXPECT_EQ(testing::complaint([&] { (void)run(verb, call, {}); }),
            "data/X.npy: Permission denied");
}

}  // namespace
}  // namespace onset
