#include "io/file_status.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "onset/core/error.hpp"
#include "support/complaint.hpp"

namespace onset::io {
namespace {

namespace fs = std::filesystem;

class FileStatus : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(folder_ / "file") << "text";
    fs::create_symlink("file", folder_ / "link");
    fs::create_symlink("nowhere", folder_ / "dangling");
    fs::create_symlink("loop", folder_ / "loop");
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_ = fs::path(::testing::TempDir()) / "onset_file_status";
};

TEST_F(FileStatus, SaysWhatIsThere) {
  EXPECT_TRUE(is_there(folder_ / "file"));
  EXPECT_TRUE(is_there(folder_ / "link"));
  EXPECT_FALSE(is_there(folder_ / "dangling"));
  EXPECT_FALSE(is_there(folder_ / "none" / "none"));
  EXPECT_TRUE(is_taken(folder_ / "dangling"));
  EXPECT_TRUE(is_taken(folder_ / "loop"));
  EXPECT_FALSE(is_taken(folder_ / "none"));
  EXPECT_TRUE(is_folder(folder_));
  EXPECT_FALSE(is_folder(folder_ / "file"));
  EXPECT_FALSE(is_folder(folder_ / "none"));
  EXPECT_TRUE(is_plain_file(folder_ / "file"));
  EXPECT_FALSE(is_plain_file(folder_ / "link"));
  EXPECT_FALSE(is_plain_file(folder_));
}

TEST_F(FileStatus, WhatCannotBeToldIsAnErrorThatNamesPathAndReason) {
  const fs::path loop = folder_ / "loop";
  const fs::path name = folder_ / std::string(300, 'x');
  for (const auto& ask : {is_there, is_folder}) {
    EXPECT_EQ(testing::complaint([&] { (void)ask(loop); }),
              loop.string() + ": cannot be reached: Too many levels of symbolic links");
    EXPECT_EQ(testing::complaint([&] { (void)ask(name); }),
              name.string() + ": cannot be reached: File name too long");
    EXPECT_THROW((void)ask(loop / "inside"), IoError);
  }
  EXPECT_THROW((void)is_taken(name), IoError);
  EXPECT_THROW((void)is_taken(loop / "inside"), IoError);
}

TEST_F(FileStatus, OnlyAPlainFileOrNothingIsATarget) {
  require_plain_target(folder_ / "file");
  require_plain_target(folder_ / "none");
  for (const char* name : {"link", "dangling", "loop", "."}) {
    EXPECT_THROW(require_plain_target(folder_ / name), IoError) << name;
  }
  EXPECT_THROW(require_plain_target("/dev/null"), IoError);
}

TEST_F(FileStatus, AWorkingFolderThatWasRemovedIsAnError) {
  const fs::path before = current_folder();
  EXPECT_EQ(before, fs::current_path());
  fs::create_directory(folder_ / "gone");
  fs::current_path(folder_ / "gone");
  fs::remove(folder_ / "gone");
  EXPECT_THROW((void)current_folder(), IoError);
  fs::current_path(before);
}

}  // namespace
}  // namespace onset::io
