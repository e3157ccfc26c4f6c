#include "smi/verbs/text_program.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "onset/core/error.hpp"
#include "unit/smi/learners/text_oracle.hpp"

namespace onset::smi {
namespace {

/// One loss in single precision: a few units of 6e-8 for each of some dozen terms.
constexpr double single_precision = 1e-6;

/// The program is built only where LibTorch is.
bool has_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return std::filesystem::exists(self.parent_path() / "onset-text", error);
}

TextJob tiny_job() {
  TextJob job;
  job.options.embedding = 3;
  job.options.layers = 2;
  job.options.width = 2;
  job.options.skip = 0.7;
  job.options.weight_scale = 0.8;
  job.options.rate = 0.03;
  job.options.decay = 0.2;
  job.options.batch = 2;
  job.options.epochs = 4;
  job.options.record_every = 1;
  job.options.runs = 1;
  job.options.seed = 7;
  // Questions of unequal length, so that padding matters; an odd number of them, so that the last
  // batch is a small one.
  job.corpus = {3,
                7,
                {{0, {2, 3}}, {1, {4, 5, 2, 6}}, {2, {6}}, {0, {3, 3, 5}}, {1, {4, 2}}},
                {{0, {3, 2}}, {1, {4, 1}}, {2, {6, 6, 5}}, {0, {5}}}};
  return job;
}

TEST(TextProgram, AgreesWithAPlainTransformerTrainedByFiniteDifferences) {
  if (!has_program()) GTEST_SKIP() << "built without LibTorch";
  const TextJob job = tiny_job();
  const TextOutcome outcome = run_text_program(job, {});
  testing::TextOracle oracle(job.options, job.corpus);
  const std::int64_t correct_before = oracle.correct();
  const std::vector<double> losses = oracle.train();
  ASSERT_EQ(outcome.runs.size(), 1U);
  const TextRun& run = outcome.runs[0];
  EXPECT_EQ(run.end, TextRun::End::finished);
  ASSERT_EQ(run.rows.size(), losses.size() + 1);
  // Single precision through a dozen steps, each of which divides small numbers by small ones.
  constexpr double rounding = 2e-4;
  EXPECT_NEAR(run.rows[0].loss.value, losses[0], single_precision);
  for (std::size_t k = 0; k < losses.size(); ++k) {
    EXPECT_EQ(run.rows[k + 1].step, static_cast<std::int64_t>(k) + 1);
    EXPECT_NEAR(run.rows[k + 1].loss.value, losses[k], rounding) << "step " << k;
  }
  for (std::size_t k = 0; k < run.rows.size(); ++k) {
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_NEAR(run.rows[k].similarity[l], oracle.similarity(k, static_cast<std::int64_t>(l)),
                  rounding);
    }
  }
  EXPECT_LT(run.rows[0].similarity[0], 0.99) << "nothing was learned, so nothing was tested";
  EXPECT_EQ(run.rows.front().correct, correct_before);
  EXPECT_EQ(run.rows.back().correct, oracle.correct());
}

TEST(TextProgram, GivesTheSameBitsForAnyNumberOfThreads) {
  if (!has_program()) GTEST_SKIP() << "built without LibTorch";
  TextJob job = tiny_job();
  job.options.runs = 3;
  const TextOutcome one = run_text_program(job, {});
  job.threads = 3;
  const TextOutcome three = run_text_program(job, {});
  for (std::size_t r = 0; r < 3; ++r) {
    ASSERT_EQ(one.runs[r].rows.size(), three.runs[r].rows.size());
    for (std::size_t k = 0; k < one.runs[r].rows.size(); ++k) {
      EXPECT_EQ(one.runs[r].rows[k].loss.value, three.runs[r].rows[k].loss.value);
      EXPECT_EQ(one.runs[r].rows[k].similarity, three.runs[r].rows[k].similarity);
    }
  }
  EXPECT_NE(one.runs[0].rows[0].loss.value, one.runs[1].rows[0].loss.value);
}

/// ONSET_TEXT for as long as this lives.
class Instead {
 public:
  explicit Instead(const char* program) { setenv("ONSET_TEXT", program, 1); }
  ~Instead() { unsetenv("ONSET_TEXT"); }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
};

std::string failure_with(const char* program) {
  const Instead instead(program);
  try {
    (void)run_text_program(tiny_job(), {});
  } catch (const IoError& error) {
    return error.what();
  }
  return "none";
}

TEST(TextProgram, SaysHowToGetItWhereItIsMissing) {
  const std::string message = failure_with("/nowhere/onset-text");
  EXPECT_NE(message.find("libtorch-dev"), std::string::npos) << message;
}

TEST(TextProgram, IsNotBelievedWhenItFailsOrSaysSomethingElse) {
  EXPECT_NE(failure_with("false").find("ended with status 1"), std::string::npos);
  EXPECT_NE(failure_with("true").find("ended with status 0"), std::string::npos);
  EXPECT_NE(failure_with("cat").find("means nothing here"), std::string::npos);
}

/// A program of two lines of shell that says something for the first run.
class Impostor {
 public:
  explicit Impostor(const std::string& script)
      : path_(std::filesystem::path(::testing::TempDir()) /
              (std::string("onset_impostor_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::ofstream(path_) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~Impostor() { std::filesystem::remove(path_); }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;

  [[nodiscard]] std::string failure() const { return failure_with(path_.c_str()); }

 private:
  std::filesystem::path path_;
};

TEST(TextProgram, IsNotBelievedWhereItsLinesAreTooShortOrOutOfPlace) {
  const std::string row = "echo 'row 0 0 1.5 0.1 2';";
  for (const auto& [script, why] : std::vector<std::pair<std::string, std::string>>{
           {"echo 'finished 0 12'", "no rows"},
           {row + "echo 'finished 0 12'", "no similarities"},
           {row + "echo 'similarity 0 0 0.5'", "each layer"},
           {row + "echo 'similarity 0 0 0.5 0.5 0.5'", "each layer"},
           {row + "echo 'similarity 0 0 0.5 often'", "no number"},
           {row + "echo 'similarity 0 1 0.5 0.5'", "no row of this step"},
           {row + row, "steps do not grow"},
           {"echo 'row 0 0 1.5'", "missing"},
           {"echo 'row 0 0 1.5 0.1 99'", "test questions"},
           {"echo 'row 0 99 1.5 0.1 2'", "no such step"},
           {"echo 'at 1 0'", "no such run"},
           {"echo 'at -1 0'", "no such run"},
           {"echo 'at 0 0 0'", "more words"},
           {"echo", "missing"},
           {"echo 'diverged 0 3'; echo 'at 0 4'", "has ended"}}) {
    const std::string message = Impostor(script).failure();
    EXPECT_NE(message.find("means nothing here"), std::string::npos) << script << ": " << message;
    EXPECT_NE(message.find(why), std::string::npos) << script << ": " << message;
  }
}

TEST(TextProgram, IsEndedWhereItClosesItsOutputAndStays) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string message = Impostor("exec >&-; sleep 60").failure();
  EXPECT_NE(message.find("did not end"), std::string::npos) << message;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(TextProgram, StopsWhenAskedTo) {
  const Instead instead("yes");  // writes for ever
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  EXPECT_TRUE(run_text_program(tiny_job(), context).interrupted);
}

}  // namespace
}  // namespace onset::smi
