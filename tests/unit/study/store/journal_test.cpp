#include "study/store/journal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/study/store.hpp"
#include "study/store/guarded_files.hpp"
#include "unit/study/toy_study.hpp"

namespace onset::study::sqlite {
namespace {

namespace fs = std::filesystem;

const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";

/// Four bytes, the highest first.
std::string number(std::size_t value) {
  std::string out;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>((value >> shift) & 0xff);
  return out;
}

/// How a journal ends that names a file; see https://www.sqlite.org/fileformat.html.
std::string name_at_end(const std::string& name, std::size_t length) {
  std::size_t sum = 0;
  for (const char letter : name) sum += static_cast<unsigned char>(letter);
  return number(9) + name + number(length) + number(sum) + magic;
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() { std::ofstream(victim()) << "precious"; }

  [[nodiscard]] fs::path victim() const { return folder_ / "victim"; }
  [[nodiscard]] fs::path journal() const { return folder_ / "s.db-journal"; }
  void write(const std::string& content) const { std::ofstream(journal()) << content; }
  [[nodiscard]] std::string problem() const {
    const char* found = journal_problem(journal().c_str());
    return found ? found : "none";
  }
  /// Whatever stands there, neither a store that is there nor one that is made comes near it.
  void expect_refusal(const std::string& words) const {
    EXPECT_NE(problem().find(words), std::string::npos) << problem();
    const auto type = fs::symlink_status(journal()).type();
    const fs::path kept = folder_ / "kept";
    for (const bool is_there : {false, true}) {
      fs::remove(folder_ / "s.db");
      if (is_there) {
        fs::rename(journal(), kept);
        { const Store made(folder_ / "s.db", Store::Mode::write); }
        fs::rename(kept, journal());
        expect_complaint(Store::Mode::read);
      }
      expect_complaint(Store::Mode::write);
      EXPECT_EQ(fs::symlink_status(journal()).type(), type);
      EXPECT_EQ(fs::exists(folder_ / "s.db"), is_there);
    }
    std::string content;
    std::ifstream(victim()) >> content;
    EXPECT_EQ(content, "precious");
    fs::remove(journal());
  }

  ScratchFolder folder_;

 private:
  void expect_complaint(Store::Mode mode) const {
    try {
      (void)Store(folder_ / "s.db", mode).statuses();
      ADD_FAILURE() << "the store was opened";
    } catch (const IoError& error) {
      EXPECT_EQ(fs::path(error.path()).filename(), "s.db-journal") << error.what();
    }
  }
};

TEST_F(JournalTest, WhatAWriterMayLeaveIsNoProblem) {
  EXPECT_EQ(problem(), "none");
  const std::string zeros(512, '\0');
  for (const std::string& content :
       {std::string(), zeros.substr(0, 5), zeros, magic.substr(0, 3), magic, magic + zeros,
        // A header whose first bytes are just being written, and further headers at later places.
        magic.substr(0, 4) + zeros, fmt::format("{0}{1}{0}{1}", magic, zeros),
        // No length, and one that the file does not have.
        fmt::format("{}{}{}{}{}", magic, zeros, number(0), number(0), magic),
        fmt::format("{}{}{}{}", magic, number(100), number(0), magic)}) {
    write(content);
    EXPECT_EQ(problem(), "none") << testing::PrintToString(content);
  }
}

TEST_F(JournalTest, OneThatNamesAFileIsRefused) {
  const std::string name = victim().string();
  write(magic + std::string(504, '\0') + name_at_end(name, name.size()));
  expect_refusal("names another file");
}

TEST_F(JournalTest, FilesThatAreNoJournalsAreLeftAlone) {
  write("my thesis");
  expect_refusal("is none");
  fs::create_symlink("victim", journal());
  expect_refusal("is none");
  fs::create_symlink("nowhere", journal());
  expect_refusal("is none");
  fs::create_hard_link(victim(), journal());
  expect_refusal("is none");
  fs::create_directory(journal());
  expect_refusal("is none");
  ASSERT_EQ(mkfifo(journal().c_str(), 0600), 0);
  expect_refusal("is none");
}

TEST_F(JournalTest, ASecondNameOfAJournalIsNotWrittenThrough) {
  const fs::path other = folder_ / "other";
  std::ofstream(other) << magic;
  fs::create_hard_link(other, journal());
  expect_refusal("is none");
}

// Even where a journal is exchanged after it was looked at.
TEST_F(JournalTest, NoFileThatAJournalNamesIsOpened) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(guarded_files());
  ASSERT_NE(vfs, nullptr);
  EXPECT_NE(vfs, sqlite3_vfs_find(nullptr));
  for (const int kind : {SQLITE_OPEN_SUPER_JOURNAL, SQLITE_OPEN_WAL}) {
    // SQLite wants room for a file as large as the VFS says, aligned as for anything.
    std::vector<std::max_align_t> room(
        static_cast<std::size_t>(vfs->szOsFile) / sizeof(std::max_align_t) + 1);
    auto* file = reinterpret_cast<sqlite3_file*>(room.data());
    const std::string name = victim().string();
    EXPECT_EQ(vfs->xOpen(vfs, name.c_str(), file, kind | SQLITE_OPEN_READONLY, nullptr),
              SQLITE_CANTOPEN);
    EXPECT_EQ(file->pMethods, nullptr);
  }
}

}  // namespace
}  // namespace onset::study::sqlite
