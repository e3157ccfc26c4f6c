#include <gtest/gtest.h>

#include "report/gnuplot/gnuplot.hpp"
#include "report/gnuplot/parts.hpp"

namespace onset::report {
namespace {

TEST(GnuplotCurves, ALogarithmicAxisHasNoPlaceForZeroAndLinesBreakThere) {
  const Curve curve{{{0.1, 0.0, 0.1},
                     {0.2, 0.0, 0.1},
                     {0.3, 1.0, 0.1},
                     {0.4, 0.0, 0.1},
                     {0.5, -1.0, 0.1},
                     {0.6, 2.0, 0.0},
                     {0.7, 0.0, 0.0}},
                    {},
                    false};
  DrawnPanel panel;
  panel.y.log = true;
  EXPECT_EQ(curve_data("$a", curve, panel),
            "# x y low high\n$a << END\n0.3 1 0.9 1.1\n\n0.6 2 2 2\nEND\n");
  panel.x.log = true;
  panel.y.log = false;
  EXPECT_EQ(curve_data("$a", {{{0.0, 1.0, 0.0}, {1.0, -1.0, 0.0}}, {}, false}, panel),
            "# x y low high\n$a << END\n1 -1 -1 -1\nEND\n");
}

TEST(GnuplotCurves, WhatHasNoPointInThePanelIsNotPlotted) {
  DrawnPanel panel;
  panel.y.log = true;
  std::vector<std::string> parts;
  add_curve(parts, "$a", {{{1.0, 0.0, 0.1}, {2.0, 0.0, 0.1}}, {}, false}, panel);
  EXPECT_TRUE(parts.empty());
  add_curve(parts, "$a", {{{1.0, 0.0, 0.0}, {2.0, 1.0, 0.0}}, {}, false}, panel);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_NE(parts[0].find("with points"), std::string::npos) << parts[0];
  panel.curves = {
      {{{1.0, 0.0, 0.1}, {2.0, 0.0, 0.1}}, {}, false},
      {{{1.0, 1.0, 0.1}, {2.0, 0.0, 0.1}, {3.0, 4.0, 0.1}, {4.0, 3.0, 0.1}}, {}, false}};
  EXPECT_NO_THROW((void)run_gnuplot(gnuplot_script({"toy", {panel}, {}}), "svg", {}));
}

}  // namespace
}  // namespace onset::report
