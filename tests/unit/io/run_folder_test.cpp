#include "onset/io/run_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "io/run_files.hpp"
#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"
#include "onset/version.hpp"
#include "unit/report/hostile_text.hpp"

namespace onset::io {
namespace {

namespace fs = std::filesystem;

class RunFolder : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("onset_run_") + test->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  static nlohmann::json mark(const std::string& bytes) {
    return nlohmann::json(mark_of_content(bytes));
  }
  void write_manifest(const nlohmann::json& object) const {
    std::ofstream(folder_ / "manifest.json") << object;
  }

  fs::path folder_;
};

RunRecord sample() {
  RunRecord record;
  record.command = "smi curve";
  record.method = 3;
  record.parameters.set("seed", std::int64_t{1});
  record.result.table = Table({{"x", "", "", true}});
  record.result.table.add_row({Estimate{1.5, 0.5}});
  return record;
}

TEST_F(RunFolder, HoldsTheArtifactsInFoldersOfTheirOwn) {
  RunRecord record = sample();
  record.result.artifacts = {{"truth/w.npy", Array{{2}, std::vector<double>{1, 2}}},
                             {"steps.csv", record.result.table},
                             {"note.json", std::string("{}")}};
  write_run_folder(folder_, record, {"AVX2", 4});
  EXPECT_EQ(std::get<std::vector<double>>(read_npy(folder_ / "truth" / "w.npy").values),
            (std::vector<double>{1, 2}));
  EXPECT_EQ(content(folder_ / "steps.csv"), "x,x_err\n1.5,0.5\n");
  EXPECT_EQ(content(folder_ / "note.json"), "{}");
  const auto manifest = nlohmann::json::parse(content(folder_ / "manifest.json"));
  EXPECT_EQ(manifest["files"].size(), 4U);
  EXPECT_EQ(manifest["files"][1], "truth/w.npy");
}

TEST_F(RunFolder, HoldsTheRowsAndTheEffectiveConfiguration) {
  write_run_folder(folder_ / "deep" / "run", sample(), {"AVX2", 4});
  EXPECT_EQ(content(folder_ / "deep" / "run" / "result.csv"), "x,x_err\n1.5,0.5\n");
  const auto manifest = nlohmann::json::parse(content(folder_ / "deep" / "run" / "manifest.json"));
  EXPECT_EQ(manifest["onset"], std::string(version()));
  EXPECT_EQ(manifest["command"], "smi curve");
  EXPECT_EQ(manifest["method"], 3);
  EXPECT_EQ(manifest["seed"], 1);
  EXPECT_EQ(manifest["machine"]["simd"], "AVX2");
  EXPECT_EQ(manifest["machine"]["threads"], 4);
  EXPECT_EQ(manifest["files"][0], "result.csv");
  EXPECT_EQ(manifest["row_count"], 1);
  EXPECT_EQ(manifest["status"], "ok");
}

TEST_F(RunFolder, AFileIsReplacedWholeAndLeavesNothingBeside) {
  prepare_folder(folder_);
  write_file_atomically(folder_ / "a.txt", "a long first version");
  write_file_atomically(folder_ / "a.txt", "second");
  EXPECT_EQ(content(folder_ / "a.txt"), "second");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(RunFolder, AFailedWriteLeavesNothingBeside) {
  fs::create_directories(folder_ / "taken" / "inside");
  EXPECT_THROW(write_file_atomically(folder_ / "taken", "text"), IoError);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(RunFolder, OnlyAPlainFileIsReplaced) {
  prepare_folder(folder_);
  std::ofstream(folder_ / "victim") << "precious";
  fs::create_symlink("victim", folder_ / "link");
  fs::create_symlink("nowhere", folder_ / "dangling");
  fs::create_directory(folder_ / "sub");
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "dangling", "sub", "pipe"}) {
    const auto before = fs::symlink_status(folder_ / name).type();
    try {
      write_file_atomically(folder_ / name, "text");
      FAIL() << name << " was replaced";
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("allowed: a plain file"), std::string::npos);
    }
    EXPECT_EQ(fs::symlink_status(folder_ / name).type(), before) << name;
  }
  EXPECT_THROW(write_file_atomically("/dev/null", "text"), IoError);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(content(folder_ / "victim"), "precious");
  EXPECT_FALSE(fs::exists(folder_ / "nowhere"));
  EXPECT_EQ(entries(), 5U);
}

TEST_F(RunFolder, WhatAKilledProcessLeftGoesAndWhatALivingOneWritesStays) {
  prepare_folder(folder_);
  // A process that is killed while it writes.
  const pid_t child = fork();
  if (child == 0) {
    const int left = open((folder_ / ".onset-1-0.tmp").c_str(), O_WRONLY | O_CREAT, 0600);
    flock(left, LOCK_EX);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(fs::exists(folder_ / ".onset-1-0.tmp"));
  std::ofstream(folder_ / ".other.tmp") << "not ours";
  const int writing = open((folder_ / ".onset-2-0.tmp").c_str(), O_WRONLY | O_CREAT, 0600);
  flock(writing, LOCK_EX);
  write_file_atomically(folder_ / "a.txt", "text");
  EXPECT_FALSE(fs::exists(folder_ / ".onset-1-0.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / ".onset-2-0.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / ".other.tmp"));
  close(writing);
}

TEST_F(RunFolder, AFullDiskLeavesTheOldFileAndNothingBeside) {
  prepare_folder(folder_);
  if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "no mount";
  write_file_atomically(folder_ / "a.txt", "old");
  EXPECT_THROW(write_file_atomically(folder_ / "a.txt", std::string(1 << 20, 'x')), IoError);
  EXPECT_EQ(content(folder_ / "a.txt"), "old");
  EXPECT_EQ(entries(), 1U);
  umount(folder_.c_str());
}

TEST_F(RunFolder, NoLinkInTheFolderIsFollowedToWriteOrToRemove) {
  const fs::path outside = folder_.string() + "_outside";
  fs::remove_all(outside);
  fs::create_directories(outside);
  std::ofstream(outside / "1.csv") << "precious";
  prepare_folder(folder_);
  fs::create_directory_symlink(outside, folder_ / "runs");
  write_manifest({{"command", "ssi sgd"},
                  {"marks", {{"runs/1.csv", mark("precious")}, {"../x", 1}, {"runs", 1}}}});
  RunRecord record = sample();
  record.command = "ssi sgd";
  write_run_folder(folder_, record, {});
  EXPECT_EQ(content(outside / "1.csv"), "precious");
  EXPECT_TRUE(fs::is_symlink(folder_ / "runs"));
  record.result.artifacts = {{"runs/1.csv", std::string("new")}};
  EXPECT_THROW(write_run_folder(folder_, record, {}), IoError);
  EXPECT_EQ(content(outside / "1.csv"), "precious");
  fs::remove_all(outside);
}

TEST_F(RunFolder, WhatAnEarlierRunLeftGoesIfItIsStillWhatThatRunWrote) {
  RunRecord record = sample();
  record.command = "smi amp";
  record.result.artifacts = {{"runs.csv", std::string("1")},
                             {"trajectories.csv", std::string("2")},
                             {"weights.npy", std::string("3")}};
  write_run_folder(folder_, record, {});
  std::ofstream(folder_ / "weights.npy") << "mine";
  record.result.artifacts.resize(1);
  write_run_folder(folder_, record, {});
  EXPECT_TRUE(fs::exists(folder_ / "runs.csv"));
  EXPECT_FALSE(fs::exists(folder_ / "trajectories.csv"));
  EXPECT_EQ(content(folder_ / "weights.npy"), "mine");
  EXPECT_EQ(content(folder_ / "manifest.json").find("weights.npy"), std::string::npos);
}

TEST_F(RunFolder, AFolderOfAnEarlierRunGoesWithItsLastFile) {
  RunRecord record = sample();
  record.command = "mha learn";
  record.result.artifacts = {{"geometry/w.npy", std::string("1")},
                             {"geometry/theta.npy", std::string("2")}};
  write_run_folder(folder_, record, {});
  record.result.artifacts.clear();
  write_run_folder(folder_, record, {});
  EXPECT_FALSE(fs::exists(folder_ / "geometry"));
}

// Whoever writes a manifest may know what is in a file, but not make its name one of ours, or may
// name one of ours and not know what is in it.
TEST_F(RunFolder, AManifestOfOthersRemovesNothing) {
  fs::create_directories(folder_ / "sub");
  fs::create_directories(folder_ / "truth");
  nlohmann::json names = nlohmann::json::array();
  nlohmann::json marks;
  for (const char* name : {"thesis.tex", "sub/key", "X.npy", "truth/w.npy", "figure.svg",
                           "figure.png", "runs.csv", "weights.npy"}) {
    std::ofstream(folder_ / name) << "mine";
    names.push_back(name);
    marks[name] = mark("mine");
  }
  for (const char* name : {"figure.png", "runs.csv", "weights.npy"}) marks[name] = mark("a guess");
  RunRecord record = sample();
  record.command = "smi amp";
  write_manifest({{"command", "smi amp"},
                  {"files", names},
                  {"marks", marks},
                  {"pictures", {{"figure.png", mark("a guess")}, {"thesis.tex", mark("mine")}}}});
  write_run_folder(folder_, record, {});
  write_manifest({{"command", "smi amp"}, {"files", names}, {"marks", names}, {"pictures", names}});
  write_run_folder(folder_, record, {});
  for (const std::string name : names) EXPECT_EQ(content(folder_ / name), "mine") << name;
}

TEST_F(RunFolder, WhatIsNoManifestOfOursIsFoundBeforeTheRunAndStays) {
  prepare_folder(folder_);
  for (const char* text : {R"({"files":[],"command":5})", R"({"name": "a page"})", "[]", "{", ""}) {
    std::ofstream(folder_ / "manifest.json") << text;
    EXPECT_THROW(prepare_folder(folder_), IoError) << text;
    EXPECT_THROW(write_run_folder(folder_, sample(), {}), IoError) << text;
    EXPECT_EQ(content(folder_ / "manifest.json"), text);
  }
  // One of ours may have any values: no more of it is read than is needed.
  for (const char* text :
       {R"({"files": 1, "command": "smi curve", "marks": [1], "pictures": {"figure.gp": []}})",
        R"({"command": "smi curve", "marks": {"": {}, "/": 1, ".": null}, "pictures": "x"})"}) {
    std::ofstream(folder_ / "manifest.json") << text;
    write_run_folder(folder_, sample(), {});
  }
}

TEST_F(RunFolder, LinksAndDevicesInTheWayAreFoundBeforeTheRun) {
  for (const std::string name : {"manifest.json", "result.csv", "figure.png", "X.npy", "truth"}) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::create_symlink(name, folder_ / name);
    EXPECT_THROW(prepare_run_folder(folder_, "smi generate"), IoError) << name;
    fs::remove(folder_ / name);
    ASSERT_EQ(mkfifo((folder_ / name).c_str(), 0600), 0);
    EXPECT_THROW(prepare_run_folder(folder_, "smi generate"), IoError) << name;
    fs::remove(folder_ / name);
    prepare_run_folder(folder_, "smi generate");
  }
}

TEST_F(RunFolder, HoldsAnyTextAndSaysItBack) {
  for (const std::string& text : report::hostile_texts("touch pwned", 50)) {
    RunRecord record = sample();
    record.command = text;
    record.parameters.set(text, text);
    record.result.table = Table({{text, text, text, false}});
    record.result.table.add_row({text});
    record.result.notes = {text};
    record.result.reason = text;
    record.result.summary = {{text, text}};
    write_run_folder(folder_, record, {});
    const std::string csv = content(folder_ / "result.csv");
    EXPECT_EQ(csv.find('\x1b'), std::string::npos);
    const auto identity = read_run_identity(folder_);
    ASSERT_TRUE(identity);
    // JSON has no other bytes than those of UTF-8.
    if (text.find_first_of("\xff\xc0\xed") == std::string::npos) {
      EXPECT_EQ(identity->command, text);
      EXPECT_EQ(identity->parameters.at(text), Value(text));
    }
  }
}

TEST_F(RunFolder, MayHaveAnyNameAndManifestsAnyWords) {
  for (const std::string& text : report::hostile_texts("touch pwned", 50)) {
    std::string name = "x" + text;
    std::erase_if(name, [](char c) { return c == '/' || c == '\0'; });
    write_run_folder(folder_ / name, sample(), {});
    EXPECT_TRUE(read_run_identity(folder_ / name)) << name;
    fs::remove_all(folder_);
    prepare_folder(folder_);
    // Texts that are no UTF-8 are written as they are: readers get such files too.
    std::ofstream(folder_ / "manifest.json") << R"({"command": "smi curve", "marks": {")" << text
                                             << R"(": 1}, "pictures": [")" << text << "\"]}";
    try {
      write_run_folder(folder_, sample(), {});
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("is no manifest"), std::string::npos);
    }
    fs::remove_all(folder_);
  }
}

TEST_F(RunFolder, ARunThatFailsHalfWayLeavesNoManifestOfAnEarlierOne) {
  write_run_folder(folder_, sample(), {"AVX2", 4});
  std::ofstream(folder_ / "truth") << "in the way";
  RunRecord record = sample();
  record.result.artifacts = {{"truth/w.npy", Array{{1}, std::vector<double>{1}}}};
  EXPECT_THROW(write_run_folder(folder_, record, {"AVX2", 4}), IoError);
  EXPECT_FALSE(fs::exists(folder_ / "manifest.json"));
}

TEST_F(RunFolder, WhatWasDrawnOfAnEarlierRunGoesAndNothingElseOfThatName) {
  write_run_folder(folder_, sample(), {"AVX2", 4});
  for (const char* name : {"figure.svg", "figure.png", "figure.pdf"}) {
    std::ofstream(folder_ / name) << "drawn";
  }
  record_pictures(folder_, {"figure.svg", "figure.png"});
  std::ofstream(folder_ / "figure.png") << "mine";
  RunRecord other = sample();
  other.command = "smi thresholds";
  write_run_folder(folder_, other, {"AVX2", 4});
  EXPECT_FALSE(fs::exists(folder_ / "figure.svg"));
  EXPECT_EQ(content(folder_ / "figure.png"), "mine");
  EXPECT_EQ(content(folder_ / "figure.pdf"), "drawn");
}

TEST_F(RunFolder, AFileInThePlaceOfTheFolderIsNamed) {
  std::ofstream(folder_) << "a file";
  try {
    write_run_folder(folder_, sample(), {});
    FAIL() << "accepted";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find(folder_.string()), std::string::npos);
  }
}

TEST_F(RunFolder, SaysWhatWroteItAndWithWhich) {
  EXPECT_FALSE(read_run_identity(folder_));
  RunRecord record;
  record.command = "family verb";
  record.parameters.set("word", std::string("softmax"));
  record.parameters.set("whole", std::int64_t{3});
  record.parameters.set("real", 0.1);
  record.parameters.set("list", std::vector<double>{0.5, 1.0});
  record.parameters.set("nothing", Value{});
  write_run_folder(folder_, record, {"scalar", 1});
  const auto identity = read_run_identity(folder_);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->command, "family verb");
  EXPECT_FALSE(identity->parameters.contains("nothing"));
  for (const auto& [name, value] : identity->parameters) {
    EXPECT_EQ(value, record.parameters.values().at(name)) << name;
  }
  EXPECT_EQ(identity->parameters.size(), 4U);
  std::ofstream(folder_ / "manifest.json") << "{";
  EXPECT_THROW((void)read_run_identity(folder_), IoError);
  std::ofstream(folder_ / "manifest.json")
      << R"({"command": "family verb", "parameters": {"word": {}}, "method": 1})";
  EXPECT_THROW((void)read_run_identity(folder_), IoError);
  for (const char* method : {"1e300", "-1", "4294967297", "\"1\""}) {
    std::ofstream(folder_ / "manifest.json")
        << R"({"command": "family verb", "parameters": {}, "method": )" << method << "}";
    EXPECT_THROW((void)read_run_identity(folder_), IoError) << method;
  }
}

}  // namespace
}  // namespace onset::io
