#include "study/store/writer_lock.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "onset/core/error.hpp"

namespace onset::study {
namespace {

namespace fs = std::filesystem;

class WriterLockTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(folder_ / "victim") << "precious";
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string victim() const {
    std::ifstream in(folder_ / "victim");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] fs::path lock() const { return folder_ / "store.db.lock"; }
  void expect_refusal() const {
    try {
      const WriterLock lock(folder_ / "store.db");
      FAIL() << "taken for a lock";
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("store.db.lock"), std::string::npos);
    }
    EXPECT_EQ(victim(), "precious");
    EXPECT_NE(fs::symlink_status(lock()).type(), fs::file_type::not_found);
  }

  fs::path folder_;
};

TEST_F(WriterLockTest, IsGoneWithItsHolderAndTakesOverWhatAKilledOneLeft) {
  std::ofstream(lock()) << "process 1 on nowhere";
  {
    const WriterLock held(folder_ / "store.db");
    EXPECT_TRUE(fs::exists(lock()));
    EXPECT_THROW(WriterLock(folder_ / "store.db"), IoError);
  }
  EXPECT_FALSE(fs::exists(lock()));
}

TEST_F(WriterLockTest, ALinkToAStoreIsLockedWithTheStore) {
  std::ofstream(folder_ / "store.db") << "a store";
  fs::create_symlink("store.db", folder_ / "link.db");
  {
    const WriterLock held(folder_ / "link.db");
    EXPECT_TRUE(fs::exists(lock()));
    EXPECT_THROW(WriterLock(folder_ / "store.db"), IoError);
  }
  fs::remove(folder_ / "store.db");
  EXPECT_THROW(WriterLock(folder_ / "link.db"), IoError);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.db"));
}

TEST_F(WriterLockTest, FollowsNoLink) {
  fs::create_symlink("victim", lock());
  expect_refusal();
}

TEST_F(WriterLockTest, LeavesASecondNameOfAFileAlone) {
  fs::create_hard_link(folder_ / "victim", lock());
  expect_refusal();
}

TEST_F(WriterLockTest, LeavesFilesAloneThatAreNoLocks) {
  fs::rename(folder_ / "victim", lock());
  std::ofstream(folder_ / "victim") << "precious";
  expect_refusal();
  fs::remove(lock());
  fs::create_directory(lock());
  expect_refusal();
  fs::remove(lock());
  ASSERT_EQ(mkfifo(lock().c_str(), 0600), 0);
  expect_refusal();
}

}  // namespace
}  // namespace onset::study
