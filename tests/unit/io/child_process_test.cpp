#include "io/child_process.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

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
  EXPECT_EQ(child.wait(10s), 0);
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
  EXPECT_EQ(child.wait(10s), 3);
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

TEST(ChildProcess, MayCloseItsOutputAndStayAndIsNotWaitedForForEver) {
  const auto begin = std::chrono::steady_clock::now();
  {
    ChildProcess child({"sh", {}, "echo last; exec >&-; sleep 60\n", ""});
    EXPECT_EQ(all_lines(child), std::vector<std::string>{"last"});
    EXPECT_FALSE(child.wait(100ms).has_value());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(ChildProcess, TakesWhatItStartedWithIt) {
  pid_t group = 0;
  {
    ChildProcess child({"sh", {}, "echo $$; sleep 60 & wait\n", ""});
    while (group == 0) {
      if (const auto line = child.read_line(50ms)) group = std::stoi(*line);
    }
    EXPECT_EQ(kill(-group, 0), 0);
  }
  // What was started is reaped by whoever inherits it, a moment later.
  for (int tries = 0; tries < 1000 && kill(-group, 0) == 0; ++tries) {
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_EQ(kill(-group, 0), -1);
}

TEST(ChildProcess, IsLeftWhenALineHasNoEnd) {
  ChildProcess child({"sh", {}, "tr '\\0' x < /dev/zero\n", ""});
  EXPECT_THROW((void)all_lines(child), IoError);
}

TEST(ChildProcess, OfWhatItComplainsAboutForEverTheEndIsKept) {
  ChildProcess child({"sh", {}, "yes oh | head -c 100000 >&2; echo ah >&2\n", ""});
  EXPECT_EQ(child.wait(10s), 0);
  EXPECT_LE(child.errors().size(), 4096U);
  EXPECT_TRUE(child.errors().ends_with("ah\n"));
}

}  // namespace
}  // namespace onset::io
