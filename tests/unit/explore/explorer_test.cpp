#include "explore/explorer.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "explore/guard.hpp"
#include "unit/explore/toy_explorer.hpp"

namespace onset::explore {
namespace {

namespace fs = std::filesystem;

std::string run_of(const std::string& slope) {
  return R"({"command": "toy line", "given": {"slope": ")" + slope + "\"}}";
}

/// A store with one finished point of two.
fs::path half_a_store(const study::ScratchFolder& folder) {
  const study::ToyPlan plan("[axes]\nslope = [1, 2]\n");
  study::Store store(folder / "half.db", study::Store::Mode::write);
  store.put(study::record_of(*plan));
  store.put(*study::compute_point(*plan->verb, study::begin_point(*plan, 0, 1), {}));
  return folder / "half.db";
}

TEST(Explorer, ServesThePageUnderTheToken) {
  ToyExplorer toy;
  const Response page = toy.get("");
  EXPECT_EQ(page.status, http_ok);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<script type=\"module\" src=\"main.js\">"), std::string::npos);
  EXPECT_EQ(toy.get("main.js").type, "text/javascript; charset=utf-8");
  EXPECT_EQ(toy.get("style.css").type, "text/css; charset=utf-8");
  for (const char* path : {"nothing.js", "..", "../main.js", "api", "api/nothing", "report/x",
                           "api/runs/x", "api/runs/1/2", "api/stores/-1"}) {
    EXPECT_EQ(toy.get(path).status, http_not_found) << path;
  }
}

TEST(Explorer, ForbidsTheBrowserToLoadOrTellAnythingElsewhere) {
  ToyExplorer toy;
  for (const char* path : {"", "api/catalog", "nothing"}) {
    const Response response = toy.get(path);
    EXPECT_NE(response.headers.at("Content-Security-Policy").find("default-src 'none'"),
              std::string::npos);
    EXPECT_EQ(response.headers.at("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(response.headers.at("Cache-Control"), "no-store");
    EXPECT_EQ(response.headers.at("X-Content-Type-Options"), "nosniff");
  }
}

TEST(Explorer, ARefusedRequestChangesNothing) {
  ToyExplorer toy;
  const std::string study = R"({"command": "toy line", "name": "new", "axes": {"slope": "1,2"}})";
  for (const char* header : {"host", "origin"}) {
    Request request = toy_request("api/studies", "POST", study);
    request.headers[header] = "http://example.org";
    EXPECT_EQ(toy.explorer.respond(request).status, http_forbidden);
  }
  Request request = toy_request("api/studies", "POST", study);
  request.target = "/api/studies";
  EXPECT_EQ(toy.explorer.respond(request).status, http_forbidden);
  request = toy_request("api/studies", "POST", study + std::string(max_body, ' '));
  EXPECT_EQ(toy.explorer.respond(request).status, http_too_large);
  EXPECT_EQ(toy.post("api/studies", study.substr(3)).status, http_bad_request);
  EXPECT_TRUE(toy.sweeps.started.empty());
  EXPECT_TRUE(fs::is_empty(toy.folder / ""));
}

TEST(Explorer, RefusesOtherMethods) {
  ToyExplorer toy;
  for (const char* path : {"", "main.js", "api/settle", "api/runs/1", "api/stores/0"}) {
    EXPECT_EQ(toy.explorer.respond(toy_request(path, "PUT")).status, http_wrong_method) << path;
  }
  EXPECT_EQ(toy.post("", "{}").status, http_wrong_method);
}

TEST(Explorer, SettlesACallAndSaysWhatIsWrongWithOne) {
  ToyExplorer toy;
  const Json call = json_of(toy.post("api/settle", run_of("2")));
  EXPECT_EQ(call["shell"], "onset toy line --slope 2");
  EXPECT_EQ(call["cost"]["core_seconds"], 0.1);
  const Response wrong = toy.post("api/settle", run_of("steep"));
  EXPECT_EQ(wrong.status, http_invalid);
  EXPECT_EQ(json_of(wrong)["field"], "slope");
  const Response together = toy.post(
      "api/settle", R"({"command": "toy line", "given": {"slope": "-7", "mode": "slow"}})");
  EXPECT_EQ(together.status, http_invalid);
  EXPECT_EQ(json_of(together)["error"], "does not go with `mode = slow`");
}

TEST(Explorer, RunsAVerbAndGivesItsResult) {
  ToyExplorer toy;
  const Response started = toy.post("api/runs", run_of("2"));
  EXPECT_EQ(started.status, http_created);
  const Json state = json_of(started);
  EXPECT_EQ(state["ended"], true);
  EXPECT_EQ(state["result"]["record"]["rows"][0]["y"], 4.0);
  const std::string id = std::to_string(state["id"].get<int>());
  EXPECT_EQ(json_of(toy.get("api/runs/" + id + "?wait=100"))["result"], state["result"]);
  EXPECT_EQ(toy.get("api/runs/99").status, http_not_found);
}

TEST(Explorer, ReportsRefusalsAndFailuresOfARunAsResults) {
  ToyExplorer toy;
  const Json refused = json_of(toy.post("api/runs", run_of("-2")))["result"]["record"];
  EXPECT_EQ(refused["status"], "refused");
  EXPECT_EQ(refused["reason"], "this slope is refused");
  EXPECT_EQ(json_of(toy.post("api/runs", run_of("-4")))["result"]["record"]["status"], "failed");
}

TEST(Explorer, ShowsTheRowsOfARunUnderWayOnce) {
  ToyExplorer toy;
  const Json state = json_of(toy.post("api/runs", run_of("-6")));
  EXPECT_EQ(state["ended"], false);
  EXPECT_EQ(state["result"]["record"]["status"], "running");
  EXPECT_EQ(state["result"]["record"]["rows"].size(), 1U);
  const std::string path = "api/runs/" + std::to_string(state["id"].get<int>());
  EXPECT_FALSE(json_of(toy.get(path + "?rows=1")).contains("result"));
  EXPECT_TRUE(json_of(toy.get(path + "?rows=0")).contains("result"));
}

TEST(Explorer, StopsARunAndGivesTheRowsThatItHad) {
  ToyExplorer toy;
  const Json state = json_of(toy.post("api/runs", run_of("-6")));
  const std::string path = "api/runs/" + std::to_string(state["id"].get<int>());
  EXPECT_EQ(toy.remove(path).status, http_ok);
  const Json stopped = json_of(toy.get(path + "?rows=1"));
  EXPECT_EQ(stopped["ended"], true);
  EXPECT_EQ(stopped["result"]["record"]["status"], "interrupted");
  EXPECT_EQ(stopped["result"]["record"]["rows"], state["result"]["record"]["rows"]);
  EXPECT_EQ(toy.remove("api/runs/99").status, http_not_found);
}

TEST(Explorer, SaysWhenTooManyRunsAreUnderWay) {
  ToyExplorer toy;
  toy.runs.most = 0;
  EXPECT_EQ(toy.post("api/runs", run_of("1")).status, http_busy);
}

TEST(Explorer, DoesNotStartWhatNeedsMoreMemoryThanThereIs) {
  ToyExplorer toy;
  ExplorerSettings settings = toy.settings({});
  settings.memory = 10;  // the toy says that it needs 1000 bytes
  Explorer explorer(settings, toy.runs, toy.sweeps);
  EXPECT_EQ(explorer.respond(toy_request("api/runs", "POST", run_of("1"))).status, http_invalid);
}

TEST(Explorer, ComposesAStudyAndStartsItIntoAStoreOfItsOwn) {
  ToyExplorer toy;
  const std::string axes = R"("command": "toy line", "axes": {"slope": "1,2"}})";
  const Json facts = json_of(toy.post("api/compose", "{" + axes));
  EXPECT_EQ(facts["points"], 2);
  EXPECT_TRUE(fs::is_empty(toy.folder / ""));
  const Response started = toy.post("api/studies", R"({"name": "new", )" + axes);
  EXPECT_EQ(started.status, http_created);
  std::ifstream file(toy.folder / "new.toml");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            facts["toml"].get<std::string>());
  EXPECT_EQ(toy.sweeps.started, (std::vector<fs::path>{toy.folder / "new.toml"}));
  const Json stores = json_of(toy.get("api/stores"));
  ASSERT_EQ(stores.size(), 1U);
  EXPECT_EQ(stores[0]["running"], true);
  EXPECT_EQ(stores[0]["ours"], true);
  EXPECT_EQ(toy.remove("api/stores/0").status, http_ok);
  EXPECT_EQ(json_of(toy.get("api/stores"))[0]["running"], false);
  EXPECT_EQ(toy.remove("api/stores/0").status, http_not_found);
}

TEST(Explorer, NeverReplacesAFile) {
  ToyExplorer toy;
  const std::string body = R"({"name": "new", "command": "toy line", "axes": {"slope": "1,2"}})";
  for (const char* name : {"new.toml", "new.db"}) {
    std::ofstream(toy.folder / name) << "precious";
    EXPECT_EQ(toy.post("api/studies", body).status, http_conflict);
    fs::remove(toy.folder / name);
    fs::create_symlink("/nowhere", toy.folder / name);
    EXPECT_EQ(toy.post("api/studies", body).status, http_conflict);
    fs::remove(toy.folder / name);
  }
  EXPECT_TRUE(toy.sweeps.started.empty());
}

TEST(Explorer, WatchesAStoreWithoutTouchingIt) {
  const study::ScratchFolder folder;
  const fs::path file = half_a_store(folder);
  ToyExplorer toy({file, folder / "later.db"});
  const auto written = fs::last_write_time(file);
  const Json store = json_of(toy.get("api/stores/0"));
  EXPECT_EQ(store["studies"][0]["counts"], (Json{{"ok", 1}, {"missing", 1}}));
  const Json again = json_of(toy.get("api/stores/0?seen=" + store["version"].get<std::string>()));
  EXPECT_FALSE(again.contains("studies"));
  EXPECT_EQ(fs::last_write_time(file), written);
  // A store that its sweep has not made yet.
  const Json later = json_of(toy.get("api/stores/1"));
  EXPECT_EQ(later["version"], "");
  EXPECT_EQ(toy.get("api/stores/2").status, http_not_found);
  EXPECT_EQ(json_of(toy.get("api/stores/0/0?first=0&stride=1"))["rows"].size(), 1U);
  for (const char* path : {"api/stores/0/1", "api/stores/0/x", "api/stores/2/0", "api/runs/1/0"}) {
    EXPECT_EQ(toy.get(path).status, http_not_found) << path;
  }
  EXPECT_EQ(toy.remove("api/stores/0/0").status, http_wrong_method);
  EXPECT_FALSE(fs::exists(folder / "later.db"));
}

TEST(Explorer, SaysWhatIsWrongWithAStore) {
  const study::ScratchFolder folder;
  std::ofstream(folder / "odd.db") << "no store at all, but long enough to be looked at";
  ToyExplorer toy({folder / "odd.db"});
  const Response response = toy.get("api/stores/0");
  EXPECT_EQ(response.status, http_invalid);
  EXPECT_NE(response.body.find("odd.db"), std::string::npos);
}

TEST(Explorer, ShowsAReportThatCannotAskTheServerAnything) {
  const study::ScratchFolder folder;
  ToyExplorer toy({half_a_store(folder)});
  const Response report = toy.get("report/0");
  EXPECT_EQ(report.status, http_ok);
  EXPECT_NE(report.body.find("<h1>half</h1>"), std::string::npos);
  EXPECT_EQ(report.headers.at("Content-Security-Policy").rfind("sandbox allow-scripts;", 0), 0U);
  EXPECT_EQ(toy.get("report/1").status, http_not_found);
}

}  // namespace
}  // namespace onset::explore
