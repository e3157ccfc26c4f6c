#include "onset/study/store.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>

#include "study/store/point_row.hpp"
#include "study/store/sqlite.hpp"
#include "study/store/study_row.hpp"
#include "unit/study/toy_study.hpp"

namespace onset::study {
namespace {

PointRecord full_record() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  PointRecord record;
  record.key = "k1";
  record.command = "toy line";
  record.method = 3;
  record.parameters.set("none", {});
  record.parameters.set("flag", true);
  record.parameters.set("whole", std::int64_t{-7});
  record.parameters.set("real", 1.0);
  record.parameters.set("list", std::vector<double>{0.1, 2.0});
  record.parameters.set("text", std::string("say \"\xc3\xa9\"\n"));
  record.status = PointStatus::unconverged;
  record.reason = "it wanders";
  record.table = Table({{"a", "first", "m", false}, {"b", "second", "", true}});
  const double tiny = std::nextafter(0.0, 1.0);
  record.table.add_row({std::int64_t{1}, Estimate{0.1 + 0.2, tiny}});
  record.table.add_row({1.0, Estimate{nan, infinity}});
  record.table.add_row({-0.0, {}});
  record.table.add_row({true, 2.5});
  record.table.add_row({std::string("x"), std::copysign(nan, -1.0)});
  record.summary = {{"zeta", Estimate{-infinity, 0.0}}, {"alpha", std::int64_t{1} << 62}};
  record.notes = {"one", "two"};
  record.version = "9.9";
  record.simd = "AVX2";
  record.seconds = 0.1;
  record.threads = 4;
  record.host = "here";
  record.finished = "2025-01-01T00:00:00Z";
  return record;
}

std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

void expect_same(const Cell& a, const Cell& b) {
  ASSERT_EQ(a.index(), b.index());
  if (const auto* x = std::get_if<double>(&a)) {
    EXPECT_EQ(bits(*x), bits(std::get<double>(b)));
  } else if (const auto* e = std::get_if<Estimate>(&a)) {
    EXPECT_EQ(bits(e->value), bits(std::get<Estimate>(b).value));
    EXPECT_EQ(bits(e->error), bits(std::get<Estimate>(b).error));
  } else if (const auto* t = std::get_if<std::string>(&a)) {
    EXPECT_EQ(*t, std::get<std::string>(b));
  } else if (const auto* w = std::get_if<std::int64_t>(&a)) {
    EXPECT_EQ(*w, std::get<std::int64_t>(b));
  }
}

void expect_same(const PointRecord& a, const PointRecord& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.command, b.command);
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.parameters.values(), b.parameters.values());
  EXPECT_EQ(a.status, b.status);
  EXPECT_EQ(a.reason, b.reason);
  ASSERT_EQ(a.table.columns().size(), b.table.columns().size());
  for (std::size_t c = 0; c < a.table.columns().size(); ++c) {
    EXPECT_EQ(a.table.columns()[c].name, b.table.columns()[c].name);
    EXPECT_EQ(a.table.columns()[c].meaning, b.table.columns()[c].meaning);
    EXPECT_EQ(a.table.columns()[c].unit, b.table.columns()[c].unit);
    EXPECT_EQ(a.table.columns()[c].estimate, b.table.columns()[c].estimate);
  }
  ASSERT_EQ(a.table.rows().size(), b.table.rows().size());
  for (std::size_t r = 0; r < a.table.rows().size(); ++r) {
    for (std::size_t c = 0; c < a.table.columns().size(); ++c) {
      expect_same(a.table.rows()[r][c], b.table.rows()[r][c]);
    }
  }
  ASSERT_EQ(a.summary.size(), b.summary.size());
  for (std::size_t i = 0; i < a.summary.size(); ++i) {
    EXPECT_EQ(a.summary[i].first, b.summary[i].first);
    expect_same(a.summary[i].second, b.summary[i].second);
  }
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.simd, b.simd);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.threads, b.threads);
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.finished, b.finished);
}

TEST(Store, BringsEveryBitAndKindBack) {
  const ScratchFolder folder;
  const PointRecord record = full_record();
  Store store(folder / "s.db", Store::Mode::write);
  store.put(record);
  expect_same(record, store.find("k1").value());
  expect_same(record, Store(folder / "s.db", Store::Mode::read).find("k1").value());
  EXPECT_FALSE(store.find("k2"));
}

TEST(Store, RecordsTravelAsTextWithEveryBit) {
  expect_same(full_record(), from_wire(to_wire(full_record())));
  EXPECT_THROW((void)from_wire("{}"), IoError);
  for (const char* count : {"1e300", "-1", "4294967297"}) {
    std::string wire = to_wire(full_record());
    const std::string key = "\"method\":";
    const std::size_t begin = wire.find(key) + key.size();
    wire.replace(begin, wire.find(',', begin) - begin, count);
    EXPECT_THROW((void)from_wire(wire), IoError) << count;
  }
}

TEST(Store, ALaterRecordTakesThePlaceOfAnEarlierOne) {
  const ScratchFolder folder;
  Store store(folder / "s.db", Store::Mode::write);
  PointRecord record = full_record();
  store.put(record);
  record.status = PointStatus::ok;
  store.put(record);
  EXPECT_EQ(store.statuses(), (std::map<std::string, PointStatus>{{"k1", PointStatus::ok}}));
}

TEST(Store, KeepsStudiesInTheOrderOfFirstFiling) {
  const ScratchFolder folder;
  Store store(folder / "s.db", Store::Mode::write);
  StudyRecord study{"b", "toy line", "text", {"x", "list"}, {}};
  study.points = {{"k1", {1.0, std::vector<double>{1.0, 2.0}}}, {"k2", {std::int64_t{2}, {}}}};
  store.put(study);
  store.put(StudyRecord{"a", "toy line", "", {}, {}});
  study.source = "new";
  store.put(study);
  const std::vector<StudyRecord> all = store.studies();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "b");
  EXPECT_EQ(all[0].source, "new");
  EXPECT_EQ(all[0].axes, study.axes);
  ASSERT_EQ(all[0].points.size(), 2U);
  EXPECT_EQ(all[0].points[0].axis_values, study.points[0].axis_values);
  EXPECT_EQ(all[0].points[1].key, "k2");
  EXPECT_EQ(store.study("a").name, "a");
  EXPECT_THROW((void)store.study(""), InvalidArgument);
  EXPECT_THROW((void)store.study("c"), InvalidArgument);
}

TEST(Store, HasOneWriterAtATimeAndReadersBesideIt) {
  const ScratchFolder folder;
  {
    Store first(folder / "s.db", Store::Mode::write);
    EXPECT_THROW(Store(folder / "s.db", Store::Mode::write), IoError);
    EXPECT_TRUE(Store(folder / "s.db", Store::Mode::read).statuses().empty());
  }
  EXPECT_NO_THROW(Store(folder / "s.db", Store::Mode::write));
  EXPECT_FALSE(std::filesystem::exists(folder / "s.db.lock"));
}

TEST(Store, AReaderCannotWrite) {
  const ScratchFolder folder;
  { const Store made(folder / "s.db", Store::Mode::write); }
  Store reader(folder / "s.db", Store::Mode::read);
  EXPECT_THROW(reader.put(full_record()), IoError);
  EXPECT_THROW(Store(folder / "none.db", Store::Mode::read), IoError);
}

TEST(Store, IsMadeBesideFilesOfOthersAndNeverInTheirPlace) {
  const ScratchFolder folder;
  for (const char* name : {"s.db.new", "s.db.new-journal", "s.db-wal", "s.db-shm"}) {
    std::ofstream(folder / name) << "precious";
  }
  { Store(folder / "s.db", Store::Mode::write).put(full_record()); }
  EXPECT_EQ(Store(folder / "s.db", Store::Mode::read).statuses().size(), 1U);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / ".")) {
    ++files;
    std::string first;
    std::ifstream(entry.path()) >> first;
    EXPECT_TRUE(entry.path().filename() == "s.db" || first == "precious") << entry.path();
  }
  EXPECT_EQ(files, 5U);
}

TEST(Store, IsOnlyMissingWhereNothingIs) {
  const ScratchFolder folder;
  EXPECT_FALSE(open_if_there(folder / "s.db"));
  { const Store made(folder / "s.db", Store::Mode::write); }
  EXPECT_TRUE(open_if_there(folder / "s.db"));
  std::filesystem::create_symlink("s.db", folder / "link.db");
  EXPECT_TRUE(open_if_there(folder / "link.db"));
  std::filesystem::create_symlink("nowhere.db", folder / "lost.db");
  std::filesystem::create_symlink("itself.db", folder / "itself.db");
  for (const char* unreachable : {"lost.db", "itself.db", "itself.db/s.db", "s.db/s.db"}) {
    EXPECT_THROW((void)open_if_there(folder / unreachable), IoError) << unreachable;
  }
}

/// A store with one point and one study that holds it, as others may have left it.
class StrangeStore : public testing::Test {
 protected:
  StrangeStore() { make_anew(); }
  void make_anew() const {
    std::filesystem::remove(path());
    Store store(path(), Store::Mode::write);
    store.put(full_record());
    store.put(StudyRecord{"s", "toy line", "text", {"x"}, {{"k1", {1.0}}}});
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "s.db"; }
  void edit(const std::string& sql) const {
    sqlite::Database(path(), sqlite::Database::Mode::write).execute(sql.c_str());
  }
  /// The same with checksums that fit, which anybody can compute.
  void edit_with_checksums(const std::string& sql) const {
    edit(sql);
    sqlite::Database database(path(), sqlite::Database::Mode::write);
    PointRow point;
    sqlite::Statement points(database, "SELECT " + std::string(point_columns) + " FROM points");
    ASSERT_TRUE(points.step());
    int column = 0;
    for_each_column(point, [&](auto& field) { points.get(column++, field); });
    points.reset();
    sqlite::Statement(database, "UPDATE points SET checksum = ?").bind(1, checksum(point)).run();
    sqlite::Statement studies(database,
                              "SELECT name, command, source, axes, key, axis_values "
                              "FROM studies JOIN study_points");
    ASSERT_TRUE(studies.step());
    const StudyRow study{studies.text(0),
                         studies.text(1),
                         studies.text(2),
                         studies.text(3),
                         {{studies.text(4), studies.text(5)}}};
    studies.reset();
    sqlite::Statement(database, "UPDATE studies SET checksum = ?").bind(1, checksum(study)).run();
  }
  [[nodiscard]] std::string complaint_of(const std::function<void(const Store&)>& action) const {
    try {
      action(Store(path(), Store::Mode::read));
    } catch (const IoError& error) {
      EXPECT_EQ(error.path(), path().string());
      return error.what();
    }
    return "none";
  }
  [[nodiscard]] std::string complaint_of_point() const {
    return complaint_of([](const Store& store) { (void)store.find("k1"); });
  }
  [[nodiscard]] std::string complaint_of_study() const {
    return complaint_of([](const Store& store) { (void)store.studies(); });
  }

  ScratchFolder folder_;
};

TEST_F(StrangeStore, APointThatWasEditedIsNamed) {
  EXPECT_EQ(complaint_of_point(), "none");
  for (const char* change :
       {"result = replace(result, '0.3', '0.4')", "status = 'ok'", "seconds = 2.0",
        "parameters = replace(parameters, '-7', '-8')", "summary = '{}'", "checksum = ''"}) {
    edit("CREATE TABLE kept AS SELECT * FROM points");
    edit(std::string("UPDATE points SET ") + change);
    EXPECT_NE(complaint_of_point().find("'k1' (toy line) does not fit its checksum"),
              std::string::npos)
        << change << ": " << complaint_of_point();
    EXPECT_NE(complaint_of([](const Store& store) { (void)store.statuses(); }), "none") << change;
    edit("DELETE FROM points; INSERT INTO points SELECT * FROM kept; DROP TABLE kept");
  }
}

TEST_F(StrangeStore, AStudyThatWasEditedIsNamed) {
  EXPECT_EQ(complaint_of_study(), "none");
  edit("UPDATE study_points SET axis_values = '[2.0]'");
  EXPECT_NE(complaint_of_study().find("study 's' does not fit its checksum"), std::string::npos);
}

TEST_F(StrangeStore, OneThatCallsItselfAStoreWithoutChecksumsIsNotBelieved) {
  edit(
      "ALTER TABLE points DROP COLUMN checksum; ALTER TABLE studies DROP COLUMN checksum;"
      "PRAGMA user_version = 1");
  EXPECT_NE(complaint_of_point().find("a store of version 1"), std::string::npos);
  EXPECT_THROW(Store(path(), Store::Mode::write), IoError);
}

TEST_F(StrangeStore, OneWithAWriteAheadLogIsRefused) {
  // The two bytes of the header that say so.
  std::fstream(path(), std::ios::in | std::ios::out | std::ios::binary).seekp(18).write("\2\2", 2);
  EXPECT_NE(complaint_of_point().find("write-ahead log"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "s.db-wal"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "s.db-shm"));
}

// Where the checksums fit nothing but the values themselves tells that a store is damaged.
TEST_F(StrangeStore, APointThatHoldsSomethingElseIsNamed) {
  for (const char* change :
       {"result = '{\"columns\":[],\"rows\":[[1]]}'", "result = '{\"columns\":3,\"rows\":3}'",
        "result = '[]'", "result = '{'",
        "result = '{\"columns\":[{\"name\":\"a\",\"meaning\":\"\",\"unit\":\"\","
        "\"estimate\":true}],\"rows\":[[[1.0]]]}'",
        "result = '{\"columns\":[{\"name\":\"a\",\"meaning\":\"\",\"unit\":\"\","
        "\"estimate\":false}],\"rows\":[[18446744073709551615]]}'",
        "result = '{\"columns\":[{\"name\":\"a\",\"meaning\":\"\",\"unit\":\"\","
        "\"estimate\":false}],\"rows\":[[{\"real\":\"much\"}]]}'",
        "parameters = '[1]'", "summary = '7'", "notes = '\"one\"'", "notes = '[1]'",
        "status = 'splendid'", "method = -1", "threads = 99999999999"}) {
    edit("CREATE TABLE kept AS SELECT * FROM points");
    edit_with_checksums(std::string("UPDATE points SET ") + change);
    EXPECT_NE(complaint_of_point().find("damaged: point 'k1' (toy line)"), std::string::npos)
        << change << ": " << complaint_of_point();
    EXPECT_EQ(complaint_of_point().find("json.exception"), std::string::npos) << change;
    edit("DELETE FROM points; INSERT INTO points SELECT * FROM kept; DROP TABLE kept");
  }
  for (const char* change : {"seconds = 'long'", "threads = 'many'", "method = 0.5"}) {
    edit("CREATE TABLE kept AS SELECT * FROM points");
    edit(std::string("UPDATE points SET ") + change);
    EXPECT_NE(complaint_of_point().find("of another kind"), std::string::npos) << change;
    edit("DELETE FROM points; INSERT INTO points SELECT * FROM kept; DROP TABLE kept");
  }
}

TEST_F(StrangeStore, WhateverIsNoPlainTableOfAStoreIsRefusedBeforeItIsAsked) {
  struct Case {
    const char* change;
    const char* words;
  };
  for (const Case& strange : std::initializer_list<Case>{
           {"ALTER TABLE points RENAME TO hidden; CREATE VIEW points AS WITH RECURSIVE t(n) AS "
            "(SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT hidden.* FROM hidden, t",
            "the view 'points'"},
           {"CREATE TRIGGER t AFTER INSERT ON points BEGIN UPDATE points SET reason = 'x'; END",
            "the trigger 't'"},
           {"DROP TABLE studies", "no table 'studies'"},
           {"ALTER TABLE points ADD COLUMN more TEXT AS (key || key)",
            "'points' has other columns"},
           {"ALTER TABLE studies DROP COLUMN checksum", "'studies' has other columns"}}) {
    make_anew();
    edit(strange.change);
    const std::string complaint = complaint_of([](const Store&) {});
    EXPECT_NE(complaint.find(strange.words), std::string::npos) << complaint;
    EXPECT_NE(complaint.find("not a store of Onset"), std::string::npos) << complaint;
    EXPECT_THROW(Store(path(), Store::Mode::write), IoError) << strange.change;
  }
  make_anew();
  edit("CREATE TABLE notes_of_mine (text TEXT); CREATE INDEX mine ON points (status)");
  EXPECT_EQ(complaint_of_point(), "none");
}

TEST_F(StrangeStore, APointWithoutAValueForEveryAxisIsNamed) {
  for (const char* values : {"[]", "[1.0,2.0]", "1.0", "{}", "null", "[{}]", "["}) {
    edit_with_checksums(std::string("UPDATE study_points SET axis_values = '") + values + "'");
    EXPECT_NE(complaint_of_study().find("study 's': its point 'k1'"), std::string::npos)
        << values << ": " << complaint_of_study();
  }
  edit_with_checksums("UPDATE studies SET axes = '\"x\"'");
  EXPECT_NE(complaint_of_study().find("damaged: study 's'"), std::string::npos);
}

class MergeStores : public testing::Test {
 protected:
  void file(const std::string& name, const PointRecord& record) {
    Store(folder_ / name, Store::Mode::write).put(record);
  }
  Store merged(const std::vector<std::string>& names) {
    std::vector<std::filesystem::path> paths;
    for (const std::string& name : names) paths.push_back(folder_ / name);
    Store out(folder_ / "out.db", Store::Mode::write);
    merge(out, paths);
    return out;
  }
  ScratchFolder folder_;
};

TEST_F(MergeStores, JoinsPointsAndStudies) {
  PointRecord other = full_record();
  other.key = "k2";
  file("a.db", full_record());
  file("b.db", other);
  Store(folder_ / "a.db", Store::Mode::write).put(StudyRecord{"s", "c", "", {}, {{"k1", {}}}});
  Store(folder_ / "b.db", Store::Mode::write)
      .put(StudyRecord{"s", "c", "", {}, {{"k1", {}}, {"k2", {}}}});
  const Store out = merged({"b.db", "a.db"});
  EXPECT_EQ(out.statuses().size(), 2U);
  EXPECT_EQ(out.study("s").points.size(), 2U);
  expect_same(full_record(), out.find("k1").value());
}

TEST_F(MergeStores, ADifferentResultIsRefusedAndNothingIsChanged) {
  PointRecord other = full_record();
  other.summary.back().second = std::int64_t{5};
  PointRecord third = full_record();
  third.key = "k3";
  file("a.db", full_record());
  file("c.db", third);
  file("b.db", other);
  Store out(folder_ / "a.db", Store::Mode::write);
  try {
    merge(out, {folder_ / "c.db", folder_ / "b.db"});
    FAIL();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("b.db"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("whole = -7"), std::string::npos);
  }
  EXPECT_EQ(out.statuses().size(), 1U);
}

TEST_F(MergeStores, TimesAndHostsAreNoConflictAndTheBetterStatusStays) {
  PointRecord later = full_record();
  later.seconds = 9.0;
  later.host = "there";
  PointRecord finished = full_record();
  finished.status = PointStatus::ok;
  finished.table = Table({{"a", "", "", false}});
  PointRecord failed = full_record();
  failed.status = PointStatus::failed;
  file("a.db", full_record());
  file("b.db", later);
  file("c.db", finished);
  file("d.db", failed);
  EXPECT_EQ(merged({"a.db", "b.db"}).find("k1")->host, "here");
  EXPECT_EQ(merged({"c.db", "d.db"}).find("k1")->status, PointStatus::ok);
}

TEST_F(MergeStores, StudiesOfOneNameMustContainOneAnother) {
  Store(folder_ / "a.db", Store::Mode::write).put(StudyRecord{"s", "c", "", {}, {{"k1", {}}}});
  Store(folder_ / "b.db", Store::Mode::write).put(StudyRecord{"s", "c", "", {}, {{"k2", {}}}});
  EXPECT_THROW((void)merged({"a.db", "b.db"}), IoError);
}

}  // namespace
}  // namespace onset::study
