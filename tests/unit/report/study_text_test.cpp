#include "report/study_text.hpp"

#include <gtest/gtest.h>

namespace onset::report {
namespace {

TEST(StudyText, ReadsBackToTheSameStudy) {
  study::Study study;
  study.command = "toy line";
  study.fixed = {{"noise", 2.0},
                 {"tiny", 1e-300},
                 {"name", std::string("a \"quoted\" \\ name\n")},
                 {"on", true},
                 {"skip", std::vector<double>{1.0, 0.5}}};
  study.seeds = {7, 3};
  study.axes = {{"slope", {Value(0.1), Value(3.0)}, {}, {}},
                {"branch", {Value(std::string("one")), Value(std::string("two"))}, {}, {}}};
  study.tied = {{"rate", "0.1/sqrt(slope)", {}}};
  const study::Study read = study::parse_study(study_text(study), "line.toml");
  EXPECT_EQ(read.command, study.command);
  EXPECT_EQ(read.fixed, study.fixed);
  EXPECT_EQ(read.seeds, study.seeds);
  ASSERT_EQ(read.axes.size(), 2U);
  EXPECT_EQ(read.axes[0].parameter, "slope");
  EXPECT_EQ(read.axes[0].values, study.axes[0].values);
  EXPECT_EQ(read.axes[1].values, study.axes[1].values);
  ASSERT_EQ(read.tied.size(), 1U);
  EXPECT_EQ(read.tied[0].parameter, "rate");
  EXPECT_EQ(read.tied[0].expression, "0.1/sqrt(slope)");
}

}  // namespace
}  // namespace onset::report
