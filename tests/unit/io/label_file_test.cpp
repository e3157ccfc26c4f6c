#include "io/label_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "onset/core/error.hpp"

namespace onset::io {
namespace {

class LabelFile : public ::testing::Test {
 protected:
  // One file for every test: they run beside one another.
  LabelFile()
      : path_(std::filesystem::path(::testing::TempDir()) /
              (std::string("onset_label_file_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~LabelFile() override { std::filesystem::remove(path_); }

  [[nodiscard]] std::vector<LabelledText> read(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return read_label_file(path_);
  }
  /// The message without the path in front of it.
  [[nodiscard]] std::string complaint(const std::string& content) const {
    try {
      (void)read(content);
    } catch (const IoError& error) {
      return std::string(error.what()).substr(path_.string().size());
    }
    return "none";
  }

  std::filesystem::path path_;
};

TEST_F(LabelFile, ReadsClassesTextAndLineNumbers) {
  const auto list = read("LOC:city Where is it ?\nNUM:count How  many ?\n");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].coarse, "LOC");
  EXPECT_EQ(list[0].fine, "LOC:city");
  EXPECT_EQ(list[0].text, "Where is it ?");
  EXPECT_EQ(list[1].text, "How  many ?");
  EXPECT_EQ(place_of(path_, list[1]), path_.string() + ":2");
}

TEST_F(LabelFile, KeepsLatin1BytesAndColonsOfTheText) {
  const auto list = read("A:b Caf\xe9 at 5:30 ?");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].text, "Caf\xe9 at 5:30 ?");
}

TEST_F(LabelFile, SkipsAByteOrderMark) {
  const auto list = read(
      "\xEF\xBB\xBF"
      "A:b one\n");
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].coarse, "A");
}

TEST_F(LabelFile, SkipsBlankLinesButCountsThem) {
  const auto list = read("\r\n  \nA:b one\r\n\nA:c\ttwo  \n\n");
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].text, "one");
  EXPECT_EQ(list[0].line, 3U);
  EXPECT_EQ(list[1].text, "two");
  EXPECT_EQ(list[1].line, 5U);
}

TEST_F(LabelFile, SaysWhichLineIsMalformedAndWhatIsAllowed) {
  for (const auto& [line, why] : std::vector<std::pair<std::string, std::string>>{
           {"Where is it ?", "does not start with a label"},
           {":city Where ?", "no name of a class before"},
           {"LOC: Where ?", "no name of a fine class after"},
           {"LOC:a:b Where ?", "no name of a fine class after"},
           {"LOC:city", "no text"},
           {"LOC:city   ", "no text"},
           {std::string("LOC:city a\0b", 12), "control character"},
           {"L\xd6"
            "C:city Where ?",
            "no name of a class before"}}) {
    const std::string message = complaint("A:b fine\n" + line + "\nA:b fine\n");
    EXPECT_TRUE(message.starts_with(":2: ")) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message;
    EXPECT_NE(message.find("allowed: COARSE:fine text"), std::string::npos) << message;
  }
}

TEST_F(LabelFile, RefusesFilesWithoutQuestionsAndWhatIsNoFile) {
  EXPECT_NE(complaint("").find("has no question"), std::string::npos);
  EXPECT_NE(complaint("\n \n").find("has no question"), std::string::npos);
  EXPECT_THROW((void)read_label_file(path_.parent_path()), IoError);
  EXPECT_THROW((void)read_label_file(path_.string() + ".none"), IoError);
}

}  // namespace
}  // namespace onset::io
