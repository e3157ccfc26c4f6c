#include "io/run_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace onset::io {
namespace {

TEST(RunFiles, OnlyNamesThatTheCommandWritesAreIts) {
  EXPECT_TRUE(is_file_of("smi generate", "truth/w.npy"));
  EXPECT_FALSE(is_file_of("smi curve", "truth/w.npy"));
  EXPECT_TRUE(is_file_of("ssi sgd", "runs/12.csv"));
  for (const char* name : {"runs/.csv", "runs/1", "runs/a.csv", "runs/../1.csv", "runs/1/2.csv",
                           "runs.cs", "/runs/1.csv", "runs/", "thesis.tex", "result.csv", ""}) {
    EXPECT_FALSE(is_file_of("ssi sgd", name)) << name;
  }
  EXPECT_FALSE(is_file_of("ssi flow", "runs/1.csv"));
}

TEST(RunFiles, AMarkTellsEveryOtherContent) {
  // FNV-1a of 64 bits, as its authors give it for "foobar".
  EXPECT_EQ(mark_of_content("foobar"), (Json{{"bytes", 6}, {"fnv1a", "85944171f73967e8"}}));
  const auto file = std::filesystem::path(testing::TempDir()) / "onset_mark";
  const std::string longer(200'000, 'x');
  for (const std::string& text : {std::string(), std::string("foobar"), longer}) {
    std::ofstream(file) << text;
    EXPECT_EQ(mark_of_file(file), mark_of_content(text));
    EXPECT_TRUE(has_content(file, mark_of_content(text)));
    EXPECT_FALSE(has_content(file, mark_of_content(text + "y")));
    for (const Json& odd : {Json(), Json("x"), Json::array(), Json{{"bytes", text.size()}}}) {
      EXPECT_FALSE(has_content(file, odd));
    }
  }
  EXPECT_FALSE(has_content(file.string() + "-none", mark_of_content("")));
  EXPECT_FALSE(has_content("/dev/null", mark_of_content("")));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace onset::io
