#include "onset/catalog.hpp"

#include <gtest/gtest.h>

#include <set>

#include "onset/core/error.hpp"
#include "support/complaint.hpp"

namespace onset {
namespace {

TEST(Catalog, EveryVerbIsThereOnceAndCanRun) {
  std::set<std::string> names;
  for (const Verb& verb : catalog()) {
    EXPECT_TRUE(names.insert(verb.full_name()).second) << verb.full_name();
    EXPECT_TRUE(verb.settle) << verb.full_name();
    ASSERT_FALSE(verb.rows.empty()) << verb.full_name();
    EXPECT_TRUE(verb.rows.front().when.empty()) << verb.full_name();
    for (const RowKind& kind : verb.rows) EXPECT_FALSE(kind.columns.empty()) << verb.full_name();
    EXPECT_EQ(&find_verb(verb.family, verb.name), &verb);
  }
}

TEST(Catalog, EveryVerbExplainsItself) {
  for (const Verb& verb : catalog()) {
    EXPECT_FALSE(verb.summary.empty()) << verb.full_name();
    EXPECT_FALSE(verb.details.empty()) << verb.full_name();
    EXPECT_FALSE(verb.examples.empty()) << verb.full_name();
    for (const RowKind& kind : verb.rows) {
      for (const Column& column : kind.columns) {
        EXPECT_FALSE(column.meaning.empty()) << verb.full_name() << " " << column.name;
      }
    }
  }
}

TEST(Catalog, ParametersHaveTextsAndDefaultsThatTheyAllow) {
  const std::set<std::string> common = {"threads", "max-seconds", "explain", "format",
                                        "out",     "quiet",       "help"};
  for (const Verb& verb : catalog()) {
    std::set<std::string> names;
    for (const Parameter& parameter : verb.parameters) {
      const std::string where = verb.full_name() + " --" + parameter.name;
      EXPECT_TRUE(names.insert(parameter.name).second) << where;
      EXPECT_FALSE(common.contains(parameter.name)) << where;
      EXPECT_FALSE(parameter.text.empty()) << where;
      if (!std::holds_alternative<std::monostate>(parameter.fallback)) {
        EXPECT_NO_THROW(check_value(parameter, parameter.fallback)) << where;
      }
    }
  }
}

TEST(Catalog, APrimaryColumnIsAnEstimate) {
  for (const Verb& verb : catalog()) {
    for (const Column& column : verb.columns()) {
      EXPECT_TRUE(column.name != verb.primary || column.estimate) << verb.full_name();
    }
  }
}

TEST(Catalog, ExamplesBeginWithTheirVerb) {
  for (const Verb& verb : catalog()) {
    for (const std::string& example : verb.examples) {
      EXPECT_TRUE(example.starts_with(verb.full_name() + " ")) << example;
    }
  }
}

TEST(Catalog, AMisspeltVerbGetsTheNearestOne) {
  const std::string complaint = testing::complaint([] { (void)find_verb("smi", "tresholds"); });
  EXPECT_NE(complaint.find("did you mean 'thresholds'"), std::string::npos);
  EXPECT_THROW((void)find_verb("sim", "curve"), InvalidArgument);
}

}  // namespace
}  // namespace onset
