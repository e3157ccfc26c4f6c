#include "report/figure/default_drawing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "onset/numerics/replicates.hpp"

namespace onset::report {
namespace {

Table curve_table() {
  Table table({{"alpha", "sample ratio", "", false},
               {"branch", "", "", false},
               {"Q11", "", "", true},
               {"Q22", "", "", true},
               {"error", "", "squared", true},
               {"residual", "", "", false}});
  for (const double alpha : {0.5, 1.0, 1.5}) {
    table.add_row({alpha, std::string("uninformed"), Estimate{alpha, 0.1}, Estimate{2 * alpha, 0.1},
                   Estimate{1 - alpha, 0.1}, 1e-9 * alpha});
  }
  return table;
}

TEST(DefaultDrawing, DrawsColumnsOfOneUnitTogetherAgainstTheGridThePrimaryFirst) {
  const Table table = curve_table();
  const auto drawing = default_drawing("figure", {&table, "Q22", {}});
  ASSERT_TRUE(drawing.has_value());
  ASSERT_EQ(drawing->panels.size(), 2U);
  EXPECT_EQ(drawing->panels[0].x.label, "alpha: sample ratio");
  ASSERT_EQ(drawing->panels[0].curves.size(), 2U);
  EXPECT_EQ(drawing->panels[0].y.label, "Q22, Q11");
  EXPECT_EQ(drawing->panels[0].curves[0].look.label, "Q22");
  EXPECT_EQ(drawing->panels[0].curves[0].points.at(2).error, 0.1);
  EXPECT_EQ(drawing->panels[1].y.label, "error");
}

TEST(DefaultDrawing, LabelsFitBesideThePanelAndAreCutOutsideOfFormulasOnly) {
  Table table({{"t", "", "", false},
               {"mean_steps", "mean first step with max(|e|, |m|) >= level, of those", "", true},
               {"escaped_within_the_time", "", "", true},
               {"escaped_later_than_that", "", "", true},
               {"gap", "max(a, b) of [c, d], in all (so to speak)", "share", true},
               {"risk", "mean loss (of fresh samples), in short", "loss", true}});
  for (const double t : {1.0, 2.0, 3.0}) {
    table.add_row({t, Estimate{t, 0.1}, Estimate{t, 0.1}, Estimate{t, 0.1}, Estimate{t, 0.1},
                   Estimate{t, 0.1}});
  }
  const auto drawing = default_drawing("figure", {&table, "mean_steps", {}});
  ASSERT_TRUE(drawing.has_value());
  ASSERT_EQ(drawing->panels.size(), 3U);
  EXPECT_EQ(drawing->panels[0].y.label, "mean\\_steps, ..");
  EXPECT_EQ(drawing->panels[1].y.label, "gap: max(a, b) of [c, d]");
  EXPECT_EQ(drawing->panels[2].y.label, "risk: mean loss");
}

TEST(DefaultDrawing, AFormulaIsNoClauseByHalves) {
  Table table({{"t", "", "", false},
               {"mean_steps", "mean first step with max(|e|, |m|) >= level, of those", "", true}});
  for (const double t : {1.0, 2.0}) table.add_row({t, Estimate{t, 0.1}});
  const auto drawing = default_drawing("figure", {&table, "mean_steps", {}});
  ASSERT_TRUE(drawing.has_value());
  EXPECT_EQ(drawing->panels.at(0).y.label, "mean\\_steps");
}

TEST(DefaultDrawing, DrawsThresholdsAgainstAnAxisWithOneCurveForEachKind) {
  Table table({{"skip", "", "", false},
               {"stage", "", "", false},
               {"kind", "", "", false},
               {"alpha", "", "", true}});
  for (const double skip : {2.0, 1.0, 3.0}) {
    table.add_row({skip, std::int64_t{1}, std::string("weak"), Estimate{0.1 * skip, 0.01}});
    table.add_row({skip, std::int64_t{2}, std::string("perfect"), Estimate{skip, 0.01}});
  }
  const auto drawing = default_drawing("figure", {&table, "alpha", {"skip"}});
  ASSERT_TRUE(drawing.has_value());
  ASSERT_EQ(drawing->panels.size(), 1U);
  const auto& curves = drawing->panels[0].curves;
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].look.label, "weak");
  EXPECT_EQ(curves[0].points.front().x, 1.0);
  EXPECT_EQ(curves[0].points.back().x, 3.0);
}

TEST(DefaultDrawing, DrawsNothingWithoutSomethingToDrawAgainst) {
  Table table({{"stage", "", "", false}, {"alpha", "", "", true}});
  table.add_row({std::int64_t{1}, Estimate{0.1, 0.01}});
  table.add_row({std::int64_t{2}, Estimate{0.2, 0.01}});
  EXPECT_FALSE(default_drawing("figure", {&table, "alpha", {}}).has_value());
  const Table empty = Table(table.columns());
  EXPECT_FALSE(default_drawing("figure", {&empty, "alpha", {}}).has_value());
}

TEST(DefaultDrawing, DrawsAGridOfTwoAsMaps) {
  Table table({{"a", "", "", false},
               {"omega", "", "", false},
               {"type", "", "", false},
               {"risk", "", "", true}});
  for (const double a : {0.1, 0.2, 0.3}) {
    for (const double omega : {1.0, 2.0, 3.0}) {
      table.add_row({a, omega, std::string(a * omega > 0.3 ? "semantic" : "positional"),
                     Estimate{a * omega, 0.0}});
    }
  }
  const auto drawing = default_drawing("figure", {&table, "risk", {}});
  ASSERT_TRUE(drawing.has_value());
  ASSERT_EQ(drawing->panels.size(), 2U);
  EXPECT_EQ(drawing->panels[0].shades->words.size(), 2U);
  EXPECT_TRUE(drawing->panels[1].shades->words.empty());
}

/// Curves of q against alpha, one per value of an axis.
Table many_curves(const char* axis, std::int64_t count) {
  Table table({{axis, "", "", false}, {"alpha", "", "", false}, {"q", "", "", true}});
  for (std::int64_t i = 1; i <= count; ++i) {
    for (const double alpha : {0.5, 1.0}) {
      table.add_row({i, alpha, Estimate{alpha + static_cast<double>(i), 0.1}});
    }
  }
  return table;
}

TEST(DefaultDrawing, SaysHowManyCurvesItLeavesOut) {
  const Table table = many_curves("width", 100);
  const auto drawing = default_drawing("figure", {&table, "q", {"width"}});
  ASSERT_TRUE(drawing.has_value());
  EXPECT_EQ(drawing->panels[0].curves.size(), 48U);
  ASSERT_EQ(drawing->notes.size(), 1U);
  EXPECT_EQ(drawing->notes[0], "q: 48 of 100 curves, evenly picked");
}

TEST(DefaultDrawing, ManyCurvesHaveShadesAndFewNames) {
  const Table table = many_curves("width", 20);
  const auto drawing = default_drawing("figure", {&table, "q", {"width"}});
  ASSERT_TRUE(drawing.has_value());
  const auto& curves = drawing->panels[0].curves;
  ASSERT_EQ(curves.size(), 20U);
  EXPECT_EQ(curves.front().look.label, "width 1");
  EXPECT_EQ(curves.back().look.label, "width 20");
  EXPECT_EQ(std::count_if(curves.begin(), curves.end(),
                          [](const Curve& curve) { return !curve.look.label.empty(); }),
            5);
  EXPECT_EQ(curves.front().look.shade, 0.0);
  EXPECT_EQ(curves.back().look.shade, 1.0);
}

TEST(DefaultDrawing, SeedsAreAveragedAndTheirScatterIsTheError) {
  const Table table = many_curves("seed", 4);
  const auto drawing = default_drawing("figure", {&table, "q", {"seed"}});
  ASSERT_TRUE(drawing.has_value());
  ASSERT_EQ(drawing->panels[0].curves.size(), 1U);
  const Point& first = drawing->panels[0].curves[0].points[0];
  const Estimate average = numerics::mean_over_runs(std::vector{1.5, 2.5, 3.5, 4.5});
  EXPECT_EQ(first.y, average.value);
  EXPECT_EQ(first.error, average.error);
}

TEST(DefaultDrawing, RunsAreAveragedAndTheirScatterIsTheError) {
  Table table({{"run", "", "", false}, {"time", "", "", false}, {"cos1", "", "", true}});
  for (const std::int64_t run : {1, 2, 3}) {
    for (const double time : {0.0, 1.0}) {
      table.add_row({run, time, Estimate{time + static_cast<double>(run), std::nan("")}});
    }
  }
  const auto drawing = default_drawing("figure", {&table, "cos1", {}});
  ASSERT_TRUE(drawing.has_value());
  ASSERT_EQ(drawing->panels[0].curves.size(), 1U);
  const Point& last = drawing->panels[0].curves[0].points[1];
  const Estimate average = numerics::mean_over_runs(std::vector{2.0, 3.0, 4.0});
  EXPECT_EQ(last.y, average.value);
  EXPECT_EQ(last.error, average.error);
  ASSERT_EQ(drawing->notes.size(), 1U);
  EXPECT_EQ(drawing->notes[0], "Averages over runs; errors are those of the averages.");
}

TEST(DefaultDrawing, AnAxisHasItsNameWhereTheMeaningOnlyContainsItsLetters) {
  Table table({{"time", "", "", false},
               {"m", "semantic overlap", "", true},
               {"e", "positional overlap e", "", true}});
  for (const double time : {0.0, 1.0}) {
    table.add_row({time, Estimate{time, 0.1}, Estimate{2 * time, 0.1}});
  }
  const auto alone = [&](const char* name) {
    Table one({table.columns()[0], table.columns()[table.column(name)]});
    for (const auto& row : table.rows()) one.add_row({row[0], row[table.column(name)]});
    return default_drawing("figure", {&one, name, {}})->panels[0].y.label;
  };
  EXPECT_EQ(alone("m"), "m: semantic overlap");
  EXPECT_EQ(alone("e"), "positional overlap e");
}

}  // namespace
}  // namespace onset::report
