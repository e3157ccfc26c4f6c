#include "io/read_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "onset/core/error.hpp"

namespace onset::io {
namespace {

class ReadFile : public ::testing::Test {
 protected:
  ReadFile()
      : path_(std::filesystem::path(::testing::TempDir()) /
              (std::string("onset_read_file_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {}
  ~ReadFile() override { std::filesystem::remove(path_); }

  static std::string complaint(const std::filesystem::path& path, std::size_t most = 100) {
    try {
      (void)read_file(path, most);
    } catch (const IoError& error) {
      return error.what();
    }
    return "none";
  }

  std::filesystem::path path_;
};

TEST_F(ReadFile, GivesEveryByte) {
  const std::string content("one\0two\r\n\xff", 10);
  std::ofstream(path_, std::ios::binary) << content;
  EXPECT_EQ(read_file(path_), content);
  std::ofstream(path_, std::ios::binary) << std::string(200'000, 'x');
  EXPECT_EQ(read_file(path_).size(), 200'000U);
}

TEST_F(ReadFile, ReadsFilesOfTheKernelWhichSayThatTheyAreEmpty) {
  EXPECT_FALSE(read_file("/proc/self/status").empty());
}

TEST_F(ReadFile, RefusesAPipeAtOnceInsteadOfWaitingForAWriter) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(complaint(path_), path_.string() + ": is a pipe; allowed: a regular file");
}

TEST_F(ReadFile, RefusesFoldersAndDevices) {
  EXPECT_NE(complaint("/").find("is a folder"), std::string::npos);
  EXPECT_NE(complaint("/dev/zero").find("is a device"), std::string::npos);
}

TEST_F(ReadFile, SaysWhyAFileCannotBeOpened) {
  EXPECT_NE(complaint(path_).find("cannot be opened: No such file"), std::string::npos);
}

TEST_F(ReadFile, RefusesFilesThatAreTooLarge) {
  std::ofstream(path_, std::ios::binary) << std::string(101, 'x');
  EXPECT_NE(complaint(path_).find("more than 100 bytes"), std::string::npos);
  std::ofstream(path_, std::ios::binary) << std::string(100, 'x');
  EXPECT_EQ(complaint(path_), "none");
}

}  // namespace
}  // namespace onset::io
