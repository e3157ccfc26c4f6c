#include "report/html_report.hpp"

#include <cstdio>
#include <set>
#include <stop_token>

#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"
#include "report/html/inline_svg.hpp"
#include "report/html/study_view.hpp"
#include "report/html/text.hpp"
#include "report/point_text.hpp"
#include "report/readable_text.hpp"
#include "unit/report/hostile_text.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

namespace fs = std::filesystem;

class HtmlReportTest : public FolderTest {
 protected:
  void sweep(const std::string& text, const std::string& name) const {
    study::Store store(folder_ / "toy.db", study::Store::Mode::write);
    const study::Plan plan = make_plan(study::parse_study(text, name + ".toml"), verbs());
    store.put(record_of(plan));
    const auto workers = local_workers(plan, plan.points.size(), {});
    (void)run_sweep(plan, store, *workers, {}, {});
  }

  [[nodiscard]] std::string page(const HtmlOptions& options = {}) const {
    return html_report(study::Store(folder_ / "toy.db", study::Store::Mode::read), verbs(),
                       options);
  }

  static std::span<const Verb> verbs() {
    static const std::vector<Verb> all{toy_verb()};
    return all;
  }
};

const std::string some_fail = R"(command = "toy line"
title = "Lines & <slopes>"
[fixed]
alpha = "0:2:0.5"
[axes]
slope = [1, 2, -1, 200]
)";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(HtmlReportTest, EscapesWhateverComesFromOutside) {
  sweep(some_fail, "toy");
  const std::string text = page();
  EXPECT_TRUE(has(text, "&lt;script&gt;too steep&lt;/script&gt;"));
  EXPECT_FALSE(has(text, "<script>too steep"));
  EXPECT_TRUE(has(text, "Lines &amp; &lt;slopes&gt;"));
}

TEST_F(HtmlReportTest, HasItsRowsForTheInteractiveFigure) {
  sweep("command = 'toy line'\nfixed = {alpha = '0,1', kind = '</script><b>'}\n", "toy");
  const std::string text = page();
  EXPECT_TRUE(has(text, R"("rows":[{"alpha":0.0,"y":0.0,"y_err":0.1,"kind":"low"})"));
  EXPECT_FALSE(has(text, "</script><b>"));
}

TEST_F(HtmlReportTest, HoldsNoMoreRowsThanItShows) {
  sweep("command = 'toy line'\n[fixed]\nalpha = '0:1:0.001'\n[axes]\nslope = '1:60:1'\n", "toy");
  const std::string text = page({"", 10});
  EXPECT_TRUE(has(text, "The first 10 of 60060 rows"));
  EXPECT_TRUE(has(text, "The first 10 of 60 rows"));
  EXPECT_TRUE(has(text, "<b class=\"ok\">60</b>"));
  // 60060 rows are too many to draw: every fourth slope is left.
  EXPECT_TRUE(has(text, "Drawn are 15 of 60 values of slope."));
}

TEST_F(HtmlReportTest, SaysWhatWasRunHowItEndedAndHowToDoItAgain) {
  sweep(some_fail, "toy");
  const std::string text = page();
  EXPECT_TRUE(has(text, "<b class=\"ok\">2</b>"));
  EXPECT_TRUE(has(text, "<b class=\"failed\">1</b>"));
  EXPECT_TRUE(has(text, "a negative slope"));
  EXPECT_TRUE(has(text, "<svg "));
  EXPECT_TRUE(has(text, "onset sweep toy.toml --store toy.db"));
  EXPECT_TRUE(has(text, "onset toy line --alpha 0,0.5,1,1.5,2 --slope 200"));
  EXPECT_TRUE(has(text, html::escape(some_fail)));
  EXPECT_TRUE(has(text, "aria-sort=\"none\""));
}

TEST_F(HtmlReportTest, HasASectionForEveryStudyOrOnlyForTheOneAskedFor) {
  sweep(some_fail, "first");
  sweep("command = 'toy line'\nfixed = {alpha = '0,1'}\n", "second");
  EXPECT_TRUE(has(page(), "id=\"study-first\""));
  EXPECT_TRUE(has(page(), "id=\"study-second\""));
  EXPECT_FALSE(has(page({.study = "second"}), "id=\"study-first\""));
  EXPECT_THROW((void)page({.study = "secnod"}), InvalidArgument);
}

TEST_F(HtmlReportTest, TellsAnAxisFromAColumnOfTheSameName) {
  study::Store store(folder_ / "toy.db", study::Store::Mode::write);
  const study::Study study = study::parse_study(
      "command = 'toy line'\nfixed = {alpha = '0,0.5'}\naxes = {kind = ['one', 'two']}\n",
      "toy.toml");
  const study::Plan plan = make_plan(study, verbs());
  store.put(record_of(plan));
  const auto workers = local_workers(plan, plan.points.size(), {});
  (void)run_sweep(plan, store, *workers, {}, {});
  const std::string text = html_report(store, verbs());
  EXPECT_TRUE(has(text, "<tspan font-family=\"Helvetica\" >two</tspan>")) << text;
}

TEST_F(HtmlReportTest, CutsLongTablesAndSaysSo) {
  sweep(some_fail, "toy");
  const std::string text = page({.study = "", .max_rows = 3});
  EXPECT_TRUE(has(text, "The first 3 of 15 rows."));
  EXPECT_TRUE(has(text, "onset export toy.db --study toy --format csv"));
}

/// The options of a page that is to stop.
HtmlOptions stopped() {
  std::stop_source source;
  source.request_stop();
  return {.study = "", .max_rows = 2000, .stop = source.get_token()};
}

TEST_F(HtmlReportTest, IsInterruptedByAStopAlsoWhereNothingIsDrawn) {
  sweep("command = 'toy line'\nfixed = {alpha = '0,1', slope = 200}\n", "fails");
  ASSERT_FALSE(has(page(), "<svg "));
  EXPECT_THROW((void)page(stopped()), Interrupted);
  sweep(some_fail, "toy");
  ASSERT_TRUE(has(page(), "<svg "));
  EXPECT_THROW((void)page(stopped()), Interrupted);
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("toy.db")) << entry.path();
  }
}

TEST_F(HtmlReportTest, PassesOverPointsAndRowsNoticeAStop) {
  sweep(some_fail, "toy");
  const study::Store store(folder_ / "toy.db", study::Store::Mode::read);
  const study::StudyRecord study = store.study("toy");
  const HtmlOptions stop = stopped();
  EXPECT_THROW((void)html::view_of(study, store, verbs(), stop.max_rows, stop.stop), Interrupted);
  const html::StudyView view = html::view_of(study, store, verbs(), stop.max_rows);
  const html::PageFacts facts{"toy.db", stop.max_rows, stop.stop};
  EXPECT_THROW((void)html::figures_part(view, facts), Interrupted);
  EXPECT_THROW((void)html::interactive_part(view, facts), Interrupted);
  EXPECT_THROW((void)html::problems_part(view, facts), Interrupted);
  EXPECT_THROW((void)html::results_part(view, facts), Interrupted);
  EXPECT_THROW((void)html::points_part(view, facts), Interrupted);
}

TEST_F(HtmlReportTest, ShowsStudiesOfVerbsThatItDoesNotKnow) {
  sweep(some_fail, "toy");
  const study::Store store(folder_ / "toy.db", study::Store::Mode::read);
  const std::string text = html_report(store, {});
  EXPECT_TRUE(has(text, "onset toy line"));
  EXPECT_TRUE(has(text, "--seed 1"));  // without its defaults, commands name every parameter
}

/// A store in which every text is this one: of a study that this build does not know.
void fill_store(study::Store& store, const std::string& text) {
  study::StudyRecord study;
  study.name = "n" + text;
  study.command = text;
  study.source = text;
  study.axes = {"a" + text};
  for (int i = 0; i < 3; ++i) {
    study::PointRecord point;
    point.key = text + std::to_string(i);
    point.command = text;
    point.parameters.set(text, text);
    point.parameters.set("flag" + text, true);
    point.status = i == 2 ? study::PointStatus::failed : study::PointStatus::ok;
    point.reason = text;
    point.notes = {text};
    point.summary = {{text, Cell(text)}};
    point.host = text;
    point.version = text;
    point.simd = text;
    point.finished = text;
    point.table = Table({{"x" + text, text, text, false},
                         {"y" + text, text, text, true},
                         {"w" + text, text, text, false}});
    for (int row = 0; row < 3; ++row) {
      point.table.add_row(
          {0.5 + row, Estimate{1.0 + row + i, 0.1}, text + std::to_string(row % 2)});
    }
    study.points.push_back({point.key, {Value(text + std::to_string(i))}});
    store.put(point);
  }
  store.put(study);
}

/// The tags of a page between its style sheet and its script.
std::set<std::string> tags_of(const std::string& page) {
  const std::size_t begin = page.find("</style>");
  const std::string body = page.substr(begin, page.rfind("<script>") - begin);
  std::set<std::string> tags;
  for (std::size_t at = body.find('<'); at != std::string::npos; at = body.find('<', at + 1)) {
    tags.insert(body.substr(at, body.find_first_of(" >\n\t", at) - at));
  }
  return tags;
}

TEST_F(HtmlReportTest, NoTextOfAStoreRunsACommandOrIsMarkup) {
  const fs::path pwned = folder_ / "pwned";
  const auto page_of = [&](const std::string& text) {
    const fs::path file = folder_ / "other.db";
    fs::remove(file);
    study::Store store(file, study::Store::Mode::write);
    fill_store(store, text);
    return html_report(store, verbs());
  };
  std::set<std::string> known = tags_of(page_of("plain words"));
  EXPECT_TRUE(known.contains("<svg"));
  for (const std::string& text : hostile_texts("/usr/bin/touch " + pwned.string(), 5)) {
    // The store itself keeps no text that is not UTF-8.
    const std::string stored = readable_text(text) == text ? text : text + "\x1b\r";
    const std::string page = page_of(stored);
    for (const std::string& tag : tags_of(page)) EXPECT_TRUE(known.contains(tag)) << tag << text;
    EXPECT_FALSE(has(page, "\x1b"));
    ASSERT_FALSE(fs::exists(pwned)) << text;
  }
}

TEST(InlineSvg, GivesEveryPictureIdsOfItsOwn) {
  const std::string svg =
      "<?xml version='1.0'?>\n<svg \n width=\"4\" height=\"2\"\n viewBox=\"0 0 4 2\"\n>\n"
      "<title>Gnuplot</title><path id='a'/><use xlink:href='#a'/><g fill=\"url(#a)\"/></svg>";
  const std::string text = html::inline_svg(svg, "f1-", "it's <this>");
  EXPECT_EQ(text,
            "<svg viewBox=\"0 0 4 2\" role=\"img\" aria-label=\"it&#39;s &lt;this&gt;\">\n"
            "<path id='f1-a'/><use xlink:href='#f1-a'/><g fill=\"url(#f1-a)\"/></svg>");
}

TEST(CommandLine, QuotesForTheShellAndLeavesOutDefaults) {
  Parameters parameters;
  parameters.set("alpha", std::vector<double>{0.1, 0.25});
  parameters.set("on", true);
  parameters.set("off", false);
  parameters.set("link", std::string("it's x"));
  parameters.set("nothing", {});
  parameters.set("slope", 1.0);
  EXPECT_EQ(command_line("toy line", parameters, nullptr),
            "onset toy line --alpha 0.1,0.25 --link 'it'\\''s x' --on --slope 1");
  const Verb verb = toy_verb();
  EXPECT_EQ(command_line("toy line", parameters, &verb),
            "onset toy line --alpha 0.1,0.25 --link 'it'\\''s x' --on");
}

TEST(CommandLine, IsOneCommandWhateverItsWords) {
  using namespace std::string_literals;
  Parameters parameters;
  parameters.set("a; touch pwned", "x\ny\x03"s);
  parameters.set("b", "--out=x"s);
  EXPECT_EQ(command_line("smi `curve`;", parameters, nullptr),
            "onset smi '`curve`;' '--a; touch pwned' $'x\\x0ay\\x03' --b=--out=x");
  EXPECT_EQ(export_command("--out=x", "-store.db"),
            "onset export ./-store.db --study=--out=x --format csv");
}

TEST(CommandLine, IsReadBackByAShellAsItWasMeant) {
  for (const std::string& text : hostile_texts("touch pwned", 100)) {
    if (text.find('\0') != std::string::npos) continue;  // no argument holds one
    const std::string words = "bash -c " + shell_word("printf %s " + shell_word(text));
    FILE* shell = popen(words.c_str(), "r");
    std::string out;
    for (int c = fgetc(shell); c != EOF; c = fgetc(shell)) out += static_cast<char>(c);
    EXPECT_EQ(pclose(shell), 0);
    EXPECT_EQ(out, text);
  }
}

}  // namespace
}  // namespace onset::report
