#include "report/figure_spec.hpp"

#include <gtest/gtest.h>

#include <string>

#include "onset/core/error.hpp"

namespace onset::report {
namespace {

const std::string good = R"(title = "A title"
caption = "A caption"

[[run]]
id = "line"
command = "toy line"
fixed = {noise = 2.0, alpha = "0:1:0.5", name = "x", on = true}
quick = {alpha = "0:1:1", slope = [1, 3], seeds = [7]}
axes = {slope = "1:3:1", branch = ["one", "two"]}

[[panel]]
title = "Left"
x = {label = "alpha", min = 0, max = 1.5}
y = {label = "y", log = true}
key = "none"

[[panel.series]]
run = "line"
x = "alpha"
y = "y"
filter = {kind = "weak", stage = 2}
style = "dashed"
mark = "square"
colour = "sky"
label = "the line"

[[panel.guide]]
run = "line"
x = "alpha"
label = "here"

[[panel.overlay]]
file = "theirs.csv"
x = "alpha"
y = "value"
error = "std"
)";

/// `good` with the first `from` replaced by `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The message with which the text is refused; "" when it is not.
std::string refusal(const std::string& text) {
  try {
    (void)parse_figure(text, "dir/fig.toml");
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

void expect_refusal(const std::string& text, const std::string& place, const std::string& why) {
  const std::string message = refusal(text);
  EXPECT_EQ(message.substr(0, place.size()), place) << message;
  EXPECT_NE(message.find(why), std::string::npos) << message;
}

TEST(FigureSpec, ReadsRunsWithTheirValuesInTheirOwnKinds) {
  const FigureSpec spec = parse_figure(good, "dir/fig.toml");
  EXPECT_EQ(spec.id, "fig");
  EXPECT_EQ(spec.title, "A title");
  ASSERT_EQ(spec.runs.size(), 1U);
  const FigureRun& run = spec.runs[0];
  EXPECT_EQ(run.study.name, "line");
  EXPECT_EQ(run.study.command, "toy line");
  EXPECT_EQ(run.study.fixed.at("noise"), Value(2.0));
  EXPECT_EQ(run.study.fixed.at("name"), Value(std::string("x")));
  EXPECT_EQ(run.study.fixed.at("on"), Value(true));
  ASSERT_EQ(run.study.axes.size(), 2U);
  EXPECT_EQ(run.study.axes[0].parameter, "slope");
  EXPECT_EQ(run.study.axes[0].values.size(), 3U);
  EXPECT_EQ(run.study.axes[1].values[1], Value(std::string("two")));
  EXPECT_EQ(run.study.place.line, 4U);
}

TEST(FigureSpec, QuickReplacesTheExpressionOfATie) {
  std::string text = good;
  const std::string axes = "axes = {slope";
  text.replace(text.find(axes), axes.size(), "tied = {noise2 = \"slope/2\"}\n" + axes);
  const std::string quick = "quick = {";
  text.replace(text.find(quick), quick.size(), quick + "noise2 = \"slope/4\", ");
  const FigureRun run = parse_figure(text, "fig.toml").runs.at(0);
  ASSERT_EQ(run.study.tied.size(), 1U);
  EXPECT_EQ(run.study.tied[0].expression, "slope/2");
  ASSERT_EQ(run.quick.tied.size(), 1U);
  EXPECT_EQ(run.quick.tied[0].expression, "slope/4");
  EXPECT_FALSE(run.quick.fixed.contains("noise2"));
}

TEST(FigureSpec, QuickReplacesFixedValuesAxesAndSeeds) {
  const FigureRun run = parse_figure(good, "fig.toml").runs.at(0);
  EXPECT_EQ(run.quick.fixed.at("alpha"), Value(std::string("0:1:1")));
  EXPECT_EQ(run.quick.fixed.at("noise"), Value(2.0));
  EXPECT_EQ(run.quick.axes[0].values.size(), 2U);
  EXPECT_EQ(run.quick.axes[1].values.size(), 2U);
  EXPECT_EQ(run.quick.seeds, (std::vector<std::int64_t>{7}));
  EXPECT_TRUE(run.study.seeds.empty());
}

TEST(FigureSpec, ReadsPanelsWithSeriesGuidesAndOverlays) {
  const FigureSpec spec = parse_figure(good, "fig.toml");
  ASSERT_EQ(spec.panels.size(), 1U);
  const Panel& panel = spec.panels[0];
  EXPECT_EQ(panel.key, "none");
  EXPECT_EQ(panel.x.max, 1.5);
  EXPECT_FALSE(panel.y.max.has_value());
  EXPECT_TRUE(panel.y.log);
  ASSERT_EQ(panel.series.size(), 1U);
  EXPECT_EQ(panel.series[0].look.style, LineStyle::dashed);
  EXPECT_EQ(panel.series[0].look.mark, Mark::square);
  EXPECT_EQ(panel.series[0].look.colour, Colour::sky);
  EXPECT_EQ(panel.series[0].filter.at("stage"), Value(std::int64_t{2}));
  ASSERT_EQ(panel.guides.size(), 1U);
  EXPECT_EQ(panel.guides[0].label, "here");
  ASSERT_EQ(panel.overlays.size(), 1U);
  EXPECT_EQ(panel.overlays[0].error, "std");
}

TEST(FigureSpec, CurvesOfAGroupWithAColourLookAlike) {
  const Panel alike =
      parse_figure(changed("label = \"the line\"", "group = \"kind\""), "f.toml").panels[0];
  EXPECT_TRUE(alike.series[0].alike);
  EXPECT_FALSE(parse_figure(good, "f.toml").panels[0].series[0].alike);
}

TEST(FigureSpec, NamesThePlaceOfAnUnknownKeyAndTheNearestKnownOne) {
  expect_refusal(changed("caption", "captoin"), "dir/fig.toml:2:1",
                 "unknown key 'captoin'; did you mean 'caption'?");
  expect_refusal(changed("colour = \"sky\"", "color = \"sky\""), "dir/fig.toml:24:1",
                 "did you mean 'colour'?");
  expect_refusal(changed("log = true", "logg = true"), "dir/fig.toml:14:19", "did you mean 'log'?");
}

TEST(FigureSpec, NamesThePlaceOfASyntaxError) {
  expect_refusal(changed("caption = \"A caption\"", "caption = \"A caption"),
                 "dir/fig.toml:2:", "");
}

TEST(FigureSpec, RefusesASeriesOfARunThatIsNotThere) {
  expect_refusal(changed("run = \"line\"", "run = \"lime\""), "dir/fig.toml:18:7",
                 "there is no run 'lime'; did you mean 'line'?");
}

TEST(FigureSpec, RefusesWordsThatAreNotKnown) {
  expect_refusal(changed("\"dashed\"", "\"dahsed\""), "dir/fig.toml:22:9",
                 "did you mean 'dashed'?");
  expect_refusal(changed("\"none\"", "\"left top\""), "dir/fig.toml:15:7", "top left");
}

TEST(FigureSpec, RefusesWhatIsMissingOrOfTheWrongKind) {
  expect_refusal(changed("title = \"A title\"\n", ""), "dir/fig.toml:1:1", "'title' is missing");
  expect_refusal(changed("min = 0", "min = \"0\""), "dir/fig.toml:13:29", "'min' must be a number");
  expect_refusal(changed("[[run]]", "[run]"), "dir/fig.toml:4:1", "[[run]]");
  expect_refusal(changed("\"1:3:1\"", "\"1:3\""), "dir/fig.toml:9:", "1:3");
  expect_refusal(changed("max = 1.5", "max = -1"), "dir/fig.toml:13:38", "above 'min'");
}

const std::string map_panel = R"(title = "T"
[[run]]
id = "line"
command = "toy line"
[[panel]]
kind = "map"
x = {label = "x"}
y = {label = "y"}
[panel.map]
run = "line"
x = "a"
y = "b"
z = "c"
contours = 5
)";

TEST(FigureSpec, ReadsMaps) {
  const FigureSpec spec = parse_figure(map_panel, "fig.toml");
  ASSERT_TRUE(spec.panels[0].map.has_value());
  EXPECT_EQ(spec.panels[0].map->label, "c");
  EXPECT_EQ(spec.panels[0].map->contour_count, 5);
}

TEST(FigureSpec, RefusesPanelsThatAreNotOfTheirKind) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = map_panel;
    return text.replace(text.find(from), from.size(), to);
  };
  expect_refusal(with("\"map\"", "\"mpa\""), "dir/fig.toml:6:8", "did you mean 'map'?");
  expect_refusal(with("kind = \"map\"\n", ""), "dir/fig.toml:8:1", "kind = \"map\"");
  expect_refusal(changed("key = \"none\"", "kind = \"map\""), "dir/fig.toml:11:1", "[panel.map]");
  expect_refusal(with("contours = 5", "contours = 0"), "dir/fig.toml:14:12", "1 to 50");
}

TEST(FigureSpec, RefusesAMarkForAGroupAndALineWithoutAPlace) {
  expect_refusal(changed("colour = \"sky\"", "group = \"kind\""), "dir/fig.toml:23:8", "group");
  expect_refusal(good + "[[panel.line]]\nlabel = 'x'\n", "dir/fig.toml:", "vertical");
}

TEST(FigureSpec, RefusesIdsThatCouldNotBeFileNames) {
  expect_refusal(changed("id = \"line\"", "id = \"../line\""), "dir/fig.toml:5:6", "letters");
}

TEST(FigureSpec, ReportsAFileThatIsNotThereAsAFileError) {
  EXPECT_THROW((void)read_figure("no/such/figure.toml"), IoError);
}

TEST(FigureSpec, FullSizesReplaceLikeQuickOnes) {
  const FigureSpec spec = parse_figure(
      changed("axes = {slope", "full = {alpha = \"0:1:0.1\", noise = 3.0}\naxes = {slope"),
      "f.toml");
  EXPECT_EQ(std::get<double>(spec.runs[0].full.fixed.at("noise")), 3.0);
  EXPECT_EQ(std::get<double>(spec.runs[0].study.fixed.at("noise")), 2.0);
}

TEST(FigureSpec, PublishedVariantsAreDroppedWithWhatIsDrawnOfThem) {
  const std::string published =
      changed("[[panel.guide]]",
              "[[panel.series]]\nrun = \"theirs\"\nx = \"alpha\"\ny = \"y\"\n\n[[panel.guide]]");
  const std::string text =
      "title = \"Two\"\n[[run]]\nid = \"theirs\"\ncommand = \"toy line\"\nas_published = true\n\n" +
      published.substr(published.find("[[run]]"));
  FigureSpec spec = parse_figure(text, "f.toml");
  EXPECT_EQ(spec.runs.size(), 2u);
  EXPECT_EQ(spec.panels[0].series.size(), 2u);
  drop_published(spec);
  ASSERT_EQ(spec.runs.size(), 1u);
  EXPECT_EQ(spec.runs[0].id, "line");
  EXPECT_EQ(spec.panels[0].series.size(), 1u);
}

}  // namespace
}  // namespace onset::report
