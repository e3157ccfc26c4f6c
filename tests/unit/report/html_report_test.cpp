#include "onset/report/html_report.hpp"

#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"
#include "report/html/inline_svg.hpp"
#include "report/html/text.hpp"
#include "report/point_text.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

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
  std::vector<Verb> verbs_with_word{toy_verb()};
  Parameter kind;  // the verb has a column `kind` too, with other values
  kind.name = "kind";
  kind.kind = ParameterKind::text;
  kind.required = true;
  verbs_with_word[0].parameters.push_back(kind);
  study::Store store(folder_ / "toy.db", study::Store::Mode::write);
  const study::Study study = study::parse_study(
      "command = 'toy line'\nfixed = {alpha = '0,0.5'}\naxes = {kind = ['one', 'two']}\n",
      "toy.toml");
  const study::Plan plan = make_plan(study, verbs_with_word);
  store.put(record_of(plan));
  const auto workers = local_workers(plan, plan.points.size(), {});
  (void)run_sweep(plan, store, *workers, {}, {});
  const std::string text = html_report(store, verbs_with_word);
  EXPECT_TRUE(has(text, "<tspan font-family=\"Helvetica\" >two</tspan>")) << text;
}

TEST_F(HtmlReportTest, CutsLongTablesAndSaysSo) {
  sweep(some_fail, "toy");
  const std::string text = page({.study = "", .max_rows = 3});
  EXPECT_TRUE(has(text, "The first 3 of 15 rows."));
  EXPECT_TRUE(has(text, "onset export toy.db --study toy --format csv"));
}

TEST_F(HtmlReportTest, ShowsStudiesOfVerbsThatItDoesNotKnow) {
  sweep(some_fail, "toy");
  const study::Store store(folder_ / "toy.db", study::Store::Mode::read);
  const std::string text = html_report(store, {});
  EXPECT_TRUE(has(text, "onset toy line"));
  EXPECT_TRUE(has(text, "--seed 1"));  // without its defaults, commands name every parameter
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

}  // namespace
}  // namespace onset::report
