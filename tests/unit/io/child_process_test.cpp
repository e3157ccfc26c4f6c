#include "io/child_process.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "onset/core/error.hpp"

namespace onset::io {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> all_lines(ChildProcess& child) {
  std::vector<std::string> lines;
  while (!child.ended()) {
    if (auto line = child.read_line(100ms)) lines.push_back(*line);
  }
  return lines;
}

TEST(ChildProcess, GetsItsInputAndGivesItsLines) {
  ChildProcess child({"cat", {}, "one\ntwo three\n", ""});
  EXPECT_EQ(all_lines(child), (std::vector<std::string>{"one", "two three"}));
  EXPECT_EQ(child.wait(), 0);
}

TEST(ChildProcess, TakesInputFarLargerThanAPipeHolds) {
  std::string input;
  for (int i = 0; i < 100'000; ++i) input += "0123456789\n";
  ChildProcess child({"cat", {}, input, ""});
  EXPECT_EQ(all_lines(child).size(), 100'000U);
}

TEST(ChildProcess, TellsItsStatusErrorsAndEnvironment) {
  ChildProcess child({"sh", {"ONSET_WORD=here"}, "echo $ONSET_WORD; echo oh >&2; exit 3\n", ""});
  EXPECT_EQ(all_lines(child), std::vector<std::string>{"here"});
  EXPECT_EQ(child.wait(), 3);
  EXPECT_EQ(child.errors(), "oh\n");
}

TEST(ChildProcess, SaysWhatToDoWhenThereIsNoSuchProgram) {
  try {
    const ChildProcess child({"onset-no-such-program", {}, "", "build it"});
    FAIL() << "started";
  } catch (const IoError& error) {
    EXPECT_EQ(error.path(), "onset-no-such-program");
    EXPECT_NE(std::string(error.what()).find("build it"), std::string::npos);
  }
}

TEST(ChildProcess, IsNotWaitedForLongerThanAskedAndEndsWithItsOwnerToStop) {
  const auto begin = std::chrono::steady_clock::now();
  {
    ChildProcess child({"sh", {}, "echo first; sleep 60\n", ""});
    while (child.read_line(50ms) != "first") {
    }
    EXPECT_FALSE(child.read_line(50ms).has_value());
    EXPECT_FALSE(child.ended());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

}  // namespace
}  // namespace onset::io
