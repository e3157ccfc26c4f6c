#include "report/figure/drawing.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "onset/core/error.hpp"
#include "report/gnuplot/gnuplot.hpp"
#include "report/gnuplot/parts.hpp"
#include "support/tolerances.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

class DrawingTest : public FolderTest {
 protected:
  [[nodiscard]] Drawing draw(const std::string& series, const std::string& more = "",
                             const std::string& run = "fixed = {alpha = '0:2:0.5'}") const {
    const FigureSpec spec = parse_figure(toy_figure(run, series + more), "toy.toml");
    return make_drawing(spec, compute(spec), folder_);
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
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
  EXPECT_TRUE(draw(all + "filter = {kind = 'none'}\n").panels[0].curves.empty());
}

TEST_F(DrawingTest, DividesXByAColumn) {
  const Drawing drawing =
      draw(all + "x_over = 'y'\n", "", "fixed = {alpha = '1:2:0.5', slope = 4.0}");
  EXPECT_EQ(drawing.panels[0].curves[0].points[1].x, 0.25);
}

TEST_F(DrawingTest, MultipliesXByANumber) {
  const double x = draw(all).panels[0].curves[0].points[1].x;
  EXPECT_EQ(draw(all + "x_times = 4\n").panels[0].curves[0].points[1].x, 4.0 * x);
  EXPECT_THROW((void)draw(all + "x_times = 0\n"), std::exception);
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

TEST_F(DrawingTest, AnOverlayOutsideItsFolderIsRefused) {
  for (const char* file : {"../theirs.csv", "/etc/passwd", "a/../../theirs.csv", ".."}) {
    EXPECT_THROW(
        (void)draw(all, fmt::format("[[panel.overlay]]\nfile = '{}'\nx = 'a'\ny = 'b'\n", file)),
        InvalidArgument)
        << file;
  }
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
  EXPECT_EQ(drawing.panels[0].guides[1].at, 0.5);
}

TEST_F(DrawingTest, PutsALineAtAFixedNumber) {
  const Drawing drawing = draw(all, "[[panel.line]]\ny = 1.5\nlabel = 'chance'\n");
  ASSERT_EQ(drawing.panels[0].guides.size(), 1U);
  EXPECT_TRUE(drawing.panels[0].guides[0].horizontal);
  EXPECT_EQ(drawing.panels[0].guides[0].at, 1.5);
  // Without `first` the number would be a fraction of the panel, as the one before it is.
  EXPECT_NE(gnuplot_script(drawing).find("from graph 0,first 1.5 to"), std::string::npos);
}

const std::string two_slopes = "fixed = {alpha = '0:2:0.5'}\naxes = {slope = [1, 2]}";

TEST_F(DrawingTest, DrawsOneCurveForEachValueOfTheGroupWithItsValueInTheLabel) {
  const Drawing drawing =
      draw(all + "group = 'slope'\nlabel = 'b = {slope}, Q_{1}'\n", "", two_slopes);
  const std::vector<Curve>& curves = drawing.panels[0].curves;
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].look.label, "b = 1, Q_{1}");
  EXPECT_EQ(curves[1].look.label, "b = 2, Q_{1}");
  EXPECT_NE(curves[0].look.colour, curves[1].look.colour);
  EXPECT_EQ(curves[1].points.at(4).y, 4.0);
}

TEST_F(DrawingTest, CurvesOfAGroupWithAColourLookAlikeAndShareOneLabel) {
  const Drawing drawing =
      draw(all + "group = 'slope'\ncolour = 'sky'\nlabel = 'runs'\n", "", two_slopes);
  const std::vector<Curve>& curves = drawing.panels[0].curves;
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].look.label, "runs");
  EXPECT_EQ(curves[1].look.label, "");
  EXPECT_EQ(curves[0].look.colour, Colour::sky);
  EXPECT_EQ(curves[1].look.colour, Colour::sky);
}

TEST_F(DrawingTest, LabelsTheCurvesOfAGroupOfSeveralColumnsByItself) {
  const Drawing drawing = draw(all + "group = ['slope', 'kind']\n", "", two_slopes);
  ASSERT_EQ(drawing.panels[0].curves.size(), 4U);
  EXPECT_EQ(drawing.panels[0].curves[1].look.label, "slope 1, high");
}

TEST_F(DrawingTest, AveragesOverTheColumnsThatNumberRepeats) {
  const std::string slopes = "fixed = {alpha = '0:2:0.5'}\naxes = {slope = [1, 3]}";
  const Drawing drawing = draw(all + "average = 'slope'\nfilter = {alpha = 2}\n", "", slopes);
  ASSERT_EQ(drawing.panels[0].curves.size(), 1U);
  ASSERT_EQ(drawing.panels[0].curves[0].points.size(), 1U);
  EXPECT_EQ(drawing.panels[0].curves[0].points[0].y, 4.0);  // the mean of 2 and 6
  EXPECT_GT(drawing.panels[0].curves[0].points[0].error, 0.0);
  EXPECT_THROW((void)draw(all + "average = 'slpoe'\n", "", slopes), InvalidArgument);
}

const std::string map_figure =
    "title = 'T'\n[[run]]\nid = 'line'\ncommand = 'toy line'\nfixed = {alpha = '0:2:0.5'}\n"
    "axes = {slope = [2, 1, 4]}\n[[panel]]\nkind = 'map'\nx = {label = 'x'}\ny = {label = 'y'}\n"
    "[panel.map]\nrun = 'line'\nx = 'alpha'\ny = 'slope'\n";

TEST_F(DrawingTest, AMapHasTheValueOfEveryPairOfCoordinatesInAscendingOrder) {
  const FigureSpec spec = parse_figure(map_figure + "z = 'y'\ncontours = [1, 2]\n", "toy.toml");
  const Drawing drawing = make_drawing(spec, compute(spec), {});
  ASSERT_TRUE(drawing.panels[0].shades.has_value());
  const Shades& shades = *drawing.panels[0].shades;
  EXPECT_EQ(shades.y, (std::vector<double>{1.0, 2.0, 4.0}));
  EXPECT_EQ(shades.z.at(4 * 3 + 2), 8.0);
  EXPECT_EQ(shades.contours.size(), 2U);
  EXPECT_TRUE(shades.words.empty());
}

TEST_F(DrawingTest, AMapOfWordsNumbersThemAsTheyCome) {
  const FigureSpec spec = parse_figure(map_figure + "z = 'kind'\n", "toy.toml");
  const Drawing drawing = make_drawing(spec, compute(spec), {});
  const Shades& shades = *drawing.panels[0].shades;
  EXPECT_EQ(shades.words, (std::vector<std::string>{"low", "high"}));
  EXPECT_EQ(shades.z.front(), 0.0);
  EXPECT_EQ(shades.z.back(), 1.0);
}

TEST_F(DrawingTest, AMapRefusesTwoRowsAtOnePlace) {
  std::string text = map_figure + "z = 'y'\n";
  text.replace(text.find("y = 'slope'"), 11, "y = 'alpha'");
  const FigureSpec spec = parse_figure(text, "toy.toml");
  EXPECT_THROW((void)make_drawing(spec, compute(spec), {}), InvalidArgument);
}

TEST_F(DrawingTest, CellsMeetHalfwayBetweenUnevenValues) {
  EXPECT_EQ(cell_edges({1.0, 2.0, 4.0}, false), (std::vector<double>{0.5, 1.5, 3.0, 5.0}));
  const std::vector<double> logarithmic = cell_edges({1.0, 100.0}, true);
  EXPECT_NEAR(logarithmic.at(1), 10.0, tolerance::thousands_of_roundings);
}

TEST_F(DrawingTest, ScriptHoldsLabelsInQuotesThatCannotRunCommands) {
  const std::string script = gnuplot_script(draw(all + "label = \"it's `date`\"\n"));
  EXPECT_NE(script.find("title 'it\u2019s `date`'"), std::string::npos) << script;
}

}  // namespace
}  // namespace onset::report
