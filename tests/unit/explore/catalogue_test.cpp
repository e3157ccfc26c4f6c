#include "explore/catalogue.hpp"

#include <gtest/gtest.h>

#include <map>

#include "onset/catalog.hpp"
#include "unit/study/toy_study.hpp"

namespace onset::explore {
namespace {

std::map<std::string, Json> verbs_in(const Json& catalogue) {
  std::map<std::string, Json> found;
  for (const Json& group : catalogue["questions"]) {
    EXPECT_FALSE(group["verbs"].empty());
    for (const Json& verb : group["verbs"]) {
      EXPECT_TRUE(found.emplace(verb["command"], verb).second) << verb["command"];
    }
  }
  return found;
}

TEST(Catalogue, HasEveryVerbUnderExactlyOneQuestion) {
  const auto found = verbs_in(catalogue_json(catalog(), 2));
  EXPECT_EQ(found.size(), catalog().size());
  for (const Verb& verb : catalog()) EXPECT_TRUE(found.contains(verb.full_name()));
}

TEST(Catalogue, ShowsAVerbThatNoQuestionNames) {
  const std::vector<Verb> verbs{study::toy_verb()};
  EXPECT_TRUE(verbs_in(catalogue_json(verbs, 1)).contains("toy line"));
}

TEST(Catalogue, DefaultsReadBackToThemselves) {
  const auto found = verbs_in(catalogue_json(catalog(), 1));
  for (const Verb& verb : catalog()) {
    const Json& parameters = found.at(verb.full_name())["parameters"];
    ASSERT_EQ(parameters.size(), verb.parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Parameter& parameter = verb.parameters[i];
      EXPECT_EQ(parameters[i]["name"], parameter.name);
      if (parameters[i]["default"].is_null()) continue;
      const std::string text = parameters[i]["default"];
      // An empty list is a default that nobody can type, and does not need to.
      if (text.empty()) continue;
      EXPECT_EQ(parse_value(parameter, text), parameter.fallback)
          << verb.full_name() << " " << parameter.name;
    }
  }
}

}  // namespace
}  // namespace onset::explore
