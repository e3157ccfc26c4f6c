#include "smi/learners/text_job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace onset::smi {
namespace {

TextJob some_job() {
  TextJob job;
  job.threads = 3;
  job.options = {5, 3, 4, 0.5, 0.3, 0.7, 1e-3, 0.02, 2, 7, 9, 11, 18446744073709551615ULL};
  job.corpus = {2, 6, {{0, {2, 3}}, {1, {4}}}, {{1, {5, 1, 2}}}};
  return job;
}

TEST(TextJob, ReachesTheOtherSideWhole) {
  const std::string text = write_job(some_job());
  std::istringstream in(text);
  const TextJob job = read_job(in);
  EXPECT_EQ(write_job(job), text);
  EXPECT_EQ(job.threads, 3);
  EXPECT_EQ(job.options.record_every, 9);
  EXPECT_EQ(job.options.seed, 18446744073709551615ULL);
  EXPECT_DOUBLE_EQ(job.options.decay, 0.02);
  ASSERT_EQ(job.corpus.test.size(), 1U);
  EXPECT_EQ(job.corpus.test[0].words, (std::vector<std::int64_t>{5, 1, 2}));
}

TEST(TextJob, IsRefusedWhenItIsCutShortOrOfAnotherVersion) {
  const std::string text = write_job(some_job());
  std::istringstream half(text.substr(0, text.size() / 2));
  EXPECT_THROW((void)read_job(half), std::runtime_error);
  std::istringstream other("onset-text-job-0 1");
  EXPECT_THROW((void)read_job(other), std::runtime_error);
}

TEST(TextJob, MessagesComeBackAsTheyWereSent) {
  const TextMessage row{TextMessage::Kind::row, 2, {40, {1.25, 0.1}, 17, {}}};
  const TextMessage heard = read_message(write_message(row));
  EXPECT_EQ(heard.kind, TextMessage::Kind::row);
  EXPECT_EQ(heard.run, 2);
  EXPECT_EQ(heard.row.step, 40);
  EXPECT_EQ(heard.row.loss.value, 1.25);
  EXPECT_EQ(heard.row.loss.error, 0.1);
  EXPECT_EQ(heard.row.correct, 17);
  const TextMessage similar{TextMessage::Kind::similarity, 0, {1, {}, 0, {0.1, 1.0 / 3.0}}};
  EXPECT_EQ(read_message(write_message(similar)).row.similarity, similar.row.similarity);
}

TEST(TextJob, NumbersThatAreNotFiniteAreHeardToo) {
  const double inf = std::numeric_limits<double>::infinity();
  const TextMessage row{TextMessage::Kind::row, 0, {1, {inf, std::nan("")}, 0, {}}};
  const TextMessage heard = read_message(write_message(row));
  EXPECT_EQ(heard.row.loss.value, inf);
  EXPECT_TRUE(std::isnan(heard.row.loss.error));
}

TEST(TextJob, OtherWordsAreNoMessages) {
  for (const char* line : {"", "hello", "row 1", "row 1 2 x 3 4", "at one 2"}) {
    EXPECT_THROW((void)read_message(line), std::runtime_error) << line;
  }
}

}  // namespace
}  // namespace onset::smi
