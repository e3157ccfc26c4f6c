#include "explore/gallery.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "unit/study/toy_study.hpp"

namespace onset::explore {
namespace {

TEST(Gallery, OpensTheRunsOfAFigureAtTheirQuickSize) {
  const study::ScratchFolder folder;
  std::ofstream(folder / "one.toml") << R"(title = "Lines"
caption = "Some lines."
[[run]]
id = "lines"
command = "toy line"
fixed = {alpha = "0:1:0.5"}
axes = {slope = [1.0, 2.0], mode = ["slow", "fast"]}
quick = {alpha = "0,1"}
[[run]]
id = "other"
command = "toy line"
as_published = true
[[run]]
id = "tied"
command = "toy line"
axes = {slope = [1.0, 2.0]}
tied = {count = "2*slope"}
[[panel]]
x = {label = "x"}
y = {label = "y"}
[[panel.series]]
run = "lines"
x = "x"
y = "y"
)";
  const Json figures = gallery_json({folder / ""});
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0]["id"], "one");
  EXPECT_EQ(figures[0]["shell"], "onset figure one");
  ASSERT_EQ(figures[0]["runs"].size(), 2U);  // published variants are left out
  const Json& run = figures[0]["runs"][0];
  EXPECT_EQ(run["command"], "toy line");
  EXPECT_EQ(run["given"], (Json{{"alpha", "0,1"}}));
  EXPECT_EQ(run["axes"], (Json{{"slope", "1,2"}, {"mode", "slow,fast"}}));
  EXPECT_EQ(run["tied"], Json::object());
  EXPECT_EQ(figures[0]["runs"][1]["tied"], (Json{{"count", "2*slope"}}));
}

TEST(Gallery, IsEmptyWithoutFigures) {
  EXPECT_EQ(gallery_json({}), Json::array());
}

}  // namespace
}  // namespace onset::explore
