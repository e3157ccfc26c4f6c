#include <gtest/gtest.h>

#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "onset/study/study.hpp"

namespace onset::study {
namespace {

/// Defaults of `smi sgd` depend on its engine, so that an axis of engines changes other parameters.
TEST(Plan, EveryPointIsSettledAsTheCommandSettlesIt) {
  const Study study = parse_study(
      "command = 'smi sgd'\n[fixed]\nlayers = 3\n[axes]\nengine = ['batch', 'chain']\n", "a.toml");
  const Plan plan = make_plan(study, catalog());
  ASSERT_EQ(plan.points.size(), 2u);
  for (const Point& point : plan.points) {
    const Call call =
        plan.verb->settle({{"layers", std::int64_t{3}}, {"engine", point.axis_values.front()}});
    EXPECT_EQ(point.parameters.values(), call.parameters.values());
    EXPECT_EQ(point.key, identity(*plan.verb, call.parameters));
  }
  EXPECT_EQ(plan.points[0].parameters.real("rate"), 15.0);
  EXPECT_EQ(plan.points[1].parameters.real("rate"), 0.3);
  EXPECT_TRUE(plan.points[0].parameters.has("alpha"));
  EXPECT_FALSE(plan.points[1].parameters.has("alpha"));
}

/// A store would name files that were never written.
TEST(Plan, AVerbThatIsThereToWriteFilesIsRefused) {
  for (const char* command : {"smi generate", "aim generate", "mha generate"}) {
    const Study study = parse_study(std::string("command = '") + command + "'\n", "a.toml");
    try {
      (void)make_plan(study, catalog());
      FAIL() << command;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("a.toml:1:1: '" + std::string(command) + "'"),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace onset::study
