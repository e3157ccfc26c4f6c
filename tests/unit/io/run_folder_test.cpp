#include "onset/io/run_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "onset/core/error.hpp"
#include "onset/io/npy.hpp"
#include "onset/version.hpp"

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
}

}  // namespace
}  // namespace onset::io
