#include "report/drawing.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "onset/core/error.hpp"
#include "report/gnuplot.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

class DrawingTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] Drawing draw(const std::string& series, const std::string& more = "") const {
    const std::string text = toy_figure("fixed = {alpha = '0:2:0.5'}", series + more);
    const FigureSpec spec = parse_figure(text, "toy.toml");
    const std::vector<Verb> verbs{toy_verb()};
    return make_drawing(spec, compute_figure(spec, verbs, {}, {}), folder_);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  std::filesystem::path folder_;
};

const std::string all = "x = 'alpha'\ny = 'y'\n";

TEST_F(DrawingTest, TakesErrorsFromTheEstimates) {
  const Drawing drawing = draw(all);
  ASSERT_EQ(drawing.panels.at(0).curves.at(0).points.size(), 5U);
  EXPECT_EQ(drawing.panels[0].curves[0].points[4].y, 2.0);
  EXPECT_EQ(drawing.panels[0].curves[0].points[4].error, 0.1);
}

TEST_F(DrawingTest, KeepsOnlyTheRowsThatTheFilterNames) {
  EXPECT_EQ(draw(all + "filter = {kind = 'low'}\n").panels[0].curves[0].points.size(), 2U);
  EXPECT_EQ(draw(all + "filter = {alpha = 1}\n").panels[0].curves[0].points.size(), 1U);
  EXPECT_TRUE(draw(all + "filter = {kind = 'none'}\n").panels[0].curves[0].points.empty());
}

TEST_F(DrawingTest, DrawsAnOverlayOnlyWhenItsFileIsThereAndSaysSoWhenItIsNot) {
  const std::string overlay =
      "[[panel.overlay]]\nfile = 'theirs.csv'\nx = 'a'\ny = 'b'\nerror = 's'\n";
  const Drawing without = draw(all, overlay);
  EXPECT_EQ(without.panels[0].curves.size(), 1U);
  ASSERT_EQ(without.notes.size(), 1U);
  EXPECT_NE(without.notes[0].find("theirs.csv"), std::string::npos);
  write("theirs.csv", "a,b,s\r\n1,2.5e-1,0.1\r\n2,nan,\n3,4,\n");
  const Drawing with = draw(all, overlay);
  EXPECT_TRUE(with.notes.empty());
  ASSERT_EQ(with.panels[0].curves.size(), 2U);
  const Curve& curve = with.panels[0].curves[1];
  EXPECT_TRUE(curve.hollow);
  ASSERT_EQ(curve.points.size(), 2U);
  EXPECT_EQ(curve.points[0].y, 0.25);
  EXPECT_EQ(curve.points[1].x, 3.0);
}

TEST_F(DrawingTest, NamesTheOverlayFileWhoseColumnIsNotThere) {
  write("theirs.csv", "alpha,value\n1,2\n");
  EXPECT_THROW(
      (void)draw(all, "[[panel.overlay]]\nfile = 'theirs.csv'\nx = 'alpha'\ny = 'vlaue'\n"),
      IoError);
}

TEST_F(DrawingTest, PutsAGuideAtEveryRowThatIsKept) {
  const std::string guide =
      "[[panel.guide]]\nrun = 'line'\nx = 'alpha'\nfilter = {kind = 'low'}\nlabel = 'here'\n";
  const Drawing drawing = draw(all, guide);
  ASSERT_EQ(drawing.panels[0].guides.size(), 2U);
  EXPECT_EQ(drawing.panels[0].guides[1].x, 0.5);
}

TEST_F(DrawingTest, ScriptHoldsLabelsInQuotesThatCannotRunCommands) {
  const std::string script = gnuplot_script(draw(all + "label = \"it's `date`\"\n"));
  EXPECT_NE(script.find("title 'it''s `date`'"), std::string::npos) << script;
}

}  // namespace
}  // namespace onset::report
