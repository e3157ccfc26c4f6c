#include "explore/watch.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "unit/explore/toy_explorer.hpp"

namespace onset::explore {
namespace {

TEST(SecondsLeft, FollowsThePaceOfTheLastPoints) {
  EXPECT_EQ(seconds_left({}, 5), std::nullopt);
  EXPECT_EQ(seconds_left({"2026-01-01T00:00:00Z"}, 5), std::nullopt);
  // Two seconds a point, across midnight, in any order.
  EXPECT_EQ(seconds_left({"2026-01-01T00:00:01Z", "2025-12-31T23:59:59Z"}, 3), 6.0);
  // A first point long ago does not count once there are twenty later ones.
  std::vector<std::string> times{"2020-01-01T00:00:00Z"};
  for (int i = 0; i < 20; ++i) times.push_back("2026-01-01T00:00:" + std::to_string(10 + i) + "Z");
  EXPECT_EQ(seconds_left(times, 2), 2.0);
}

TEST(SecondsLeft, SaysNothingOfTimesThatItCannotRead) {
  EXPECT_EQ(seconds_left({"yesterday", "today"}, 1), std::nullopt);
}

TEST(FileVersion, ChangesWithTheFile) {
  const study::ScratchFolder folder;
  EXPECT_EQ(file_version(folder / "a"), "");
  std::ofstream(folder / "a") << "1";
  const std::string before = file_version(folder / "a");
  EXPECT_NE(before, "");
  std::ofstream(folder / "a") << "12";
  EXPECT_NE(file_version(folder / "a"), before);
}

TEST(StoreJson, SaysWhereAStudyStandsAndHowToTryItsFailuresAgain) {
  const study::ScratchFolder folder;
  const study::ToyPlan plan("[axes]\nslope = [1, -1, -2, 3]\n");
  study::Store store(folder / "toy.db", study::Store::Mode::write);
  store.put(study::record_of(*plan));
  for (const std::size_t i : {0U, 1U, 2U}) {
    store.put(*study::compute_point(*plan->verb, study::begin_point(*plan, i, 1), {}));
  }
  const std::vector<Verb> verbs{study::toy_verb()};
  const Json study = store_json(store, verbs)[0];
  EXPECT_EQ(study["points"], 4);
  EXPECT_EQ(study["counts"], (Json{{"ok", 1}, {"unconverged", 1}, {"refused", 1}, {"missing", 1}}));
  EXPECT_EQ(study["sweep"], "onset sweep toy.toml --store " + (folder / "toy.db").string());
  const Json part = study_part_json(store, 0, {}, verbs).value();
  EXPECT_EQ(part["rows"].size(), 2U);
  EXPECT_EQ(part["axes"], Json::array({"slope"}));
  EXPECT_EQ(part["problems"].size(), 2U);
  EXPECT_EQ(part["problems"][1]["point"], "slope = -2");
  EXPECT_EQ(part["problems"][1]["status"], "refused");
  EXPECT_EQ(part["problems"][1]["reason"], "this slope is refused");
  EXPECT_EQ(part["problems"][1]["command"], "onset toy line --skip 1 --slope -2");
  EXPECT_EQ(study_part_json(store, 0, {.problems = 1}, verbs).value()["problems"].size(), 1U);
  EXPECT_FALSE(study_part_json(store, 1, {}, verbs));
}

/// The slopes of the rows of an answer: the toy's y is twice its slope.
std::vector<double> slopes(const Json& part) {
  std::vector<double> out;
  for (const Json& row : part["rows"]) out.push_back(row["y"].get<double>() / 2.0);
  return out;
}

TEST(StudyPart, OfAStudyThatFitsIsAllOfIt) {
  const study::ScratchFolder folder;
  const study::ToyPlan plan("[axes]\nslope = '1:5:1'\n");
  study::Store store(folder / "toy.db", study::Store::Mode::write);
  store.put(study::record_of(*plan));
  for (std::size_t i = 0; i < 5; ++i) {
    store.put(*study::compute_point(*plan->verb, study::begin_point(*plan, i, 1), {}));
  }
  const std::vector<Verb> verbs{study::toy_verb()};
  EXPECT_EQ(slopes(*study_part_json(store, 0, {}, verbs)), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(slopes(*study_part_json(store, 0, {.first = 1, .stride = 3}, verbs)),
            (std::vector<double>{2, 5}));
  // Numbers that only a stranger would send are no reason to fail.
  constexpr std::size_t huge = ~std::size_t{0};
  EXPECT_EQ(slopes(*study_part_json(store, 0, {huge, huge, huge}, verbs)), std::vector<double>{});
}

TEST(StudyPart, OfALargeStudyIsSpreadOverAllOfItAndNoLargerThanAnAnswerMayBe) {
  const study::ScratchFolder folder;
  const study::ToyPlan plan("[axes]\nslope = '1:2500:1'\n");
  study::Store store(folder / "toy.db", study::Store::Mode::write);
  store.put(study::record_of(*plan));
  const std::size_t last = 2499;
  for (const std::size_t i : {std::size_t{0}, std::size_t{3}, last - 1, last}) {
    store.put(*study::compute_point(*plan->verb, study::begin_point(*plan, i, 1), {}));
  }
  const std::vector<Verb> verbs{study::toy_verb()};
  const Json spread = *study_part_json(store, 0, {}, verbs);
  EXPECT_EQ(spread["count"], max_watched_points);
  EXPECT_EQ(spread["stride"], 3);
  EXPECT_EQ(slopes(spread), (std::vector<double>{1, 4, 2500}));
  const Json page = *study_part_json(store, 0, {.first = 2000, .stride = 1}, verbs);
  EXPECT_EQ(slopes(page), (std::vector<double>{2499, 2500}));
}

}  // namespace
}  // namespace onset::explore
