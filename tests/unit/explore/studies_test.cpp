#include "explore/studies.hpp"

#include <gtest/gtest.h>

#include "onset/core/error.hpp"
#include "unit/explore/toy_explorer.hpp"

namespace onset::explore {
namespace {

const Json none = Json::object();

ComposedStudy compose(const Json& given, const Json& axes) {
  static const std::vector<Verb> verbs{study::toy_verb()};
  return compose_study({{"command", "toy line"}, {"given", given}, {"axes", axes}}, "toy", verbs);
}

TEST(ComposedStudy, HasAPointForEveryCombination) {
  const ComposedStudy study =
      compose({{"loud", "true"}}, {{"slope", "0:1:0.5"}, {"mode", "slow,fast"}});
  EXPECT_EQ(study.plan.points.size(), 6U);
  EXPECT_EQ(study.text,
            "command = \"toy line\"\n\n[fixed]\nloud = true\n\n[axes]\nslope = [0.0, 0.5, 1.0]\n"
            "mode = [\"slow\", \"fast\"]\n");
  const Json facts = composed_json(study);
  EXPECT_EQ(facts["points"], 6);
  EXPECT_DOUBLE_EQ(facts["core_seconds"].get<double>(), 6 * 0.1);
}

TEST(ComposedStudy, KeepsWholeNumbersWhole) {
  EXPECT_NE(compose(none, {{"count", "1:3:1"}}).text.find("count = [1, 2, 3]"), std::string::npos);
  EXPECT_THROW((void)compose(none, {{"count", "1:2:0.5"}}), InvalidArgument);
}

TEST(ComposedStudy, RefusesWhatTheVerbDoesNotTake) {
  EXPECT_THROW((void)compose(none, {{"slpoe", "1,2"}}), InvalidArgument);
  EXPECT_THROW((void)compose(none, {{"mode", "slow,quick"}}), InvalidArgument);
  EXPECT_THROW((void)compose(none, {{"count", "1,2000"}}), InvalidArgument);
  EXPECT_THROW((void)compose(none, {{"slope", 1}}), InvalidArgument);
  EXPECT_THROW((void)compose({{"slope", "1"}}, {{"slope", "1,2"}}), InvalidArgument);
  EXPECT_THROW((void)compose(none, Json::array({1})), InvalidArgument);
}

TEST(ComposedStudy, TiesParametersToOthers) {
  static const std::vector<Verb> verbs{study::toy_verb()};
  const auto tied = [](const Json& ties) {
    return compose_study({{"command", "toy line"}, {"axes", {{"slope", "1,2"}}}, {"tied", ties}},
                         "toy", verbs);
  };
  const ComposedStudy study = tied({{"count", "10*slope"}});
  EXPECT_NE(study.text.find("\n[tied]\ncount = \"10*slope\"\n"), std::string::npos);
  EXPECT_EQ(study.plan.points[1].parameters.integer("count"), 20);
  EXPECT_THROW((void)tied({{"cuont", "10*slope"}}), InvalidArgument);
  EXPECT_THROW((void)tied({{"count", "10*sloep"}}), InvalidArgument);
  EXPECT_THROW((void)tied({{"count", 10}}), InvalidArgument);
  EXPECT_THROW((void)tied({{"mode", "slope"}}), InvalidArgument);
  EXPECT_THROW((void)tied(Json::array({1})), InvalidArgument);
}

TEST(ComposedStudy, IsNotLargerThanAPageCanShow) {
  EXPECT_THROW((void)compose(none, {{"slope", "1:200:1"}, {"count", "1:200:1"}}), InvalidArgument);
}

TEST(StudyName, IsAFileOfThisFolderAndNothingElse) {
  EXPECT_EQ(study_name({{"name", "stairs-2"}}), "stairs-2");
  for (const char* name : {"", "..", "a/b", "-a", "A", "a.b", "a b", "a\n"}) {
    EXPECT_THROW((void)study_name({{"name", name}}), InvalidArgument) << name;
  }
  EXPECT_THROW((void)study_name({{"name", std::string(61, 'a')}}), InvalidArgument);
  EXPECT_THROW((void)study_name({{"name", 3}}), InvalidArgument);
  EXPECT_THROW((void)study_name(Json(3)), InvalidArgument);
}

}  // namespace
}  // namespace onset::explore
