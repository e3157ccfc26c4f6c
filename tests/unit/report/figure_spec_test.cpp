#include "onset/report/figure_spec.hpp"

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
fixed = {slope = 2.0, alpha = "0:1:0.5", name = "x", on = true}
quick = {alpha = "0:1:1"}
axis = {parameter = "slope", values = "1:3:1", quick = [1, 3]}

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
  EXPECT_EQ(run.family, "toy");
  EXPECT_EQ(run.verb, "line");
  EXPECT_EQ(run.fixed.at("slope"), Value(2.0));
  EXPECT_EQ(run.fixed.at("name"), Value(std::string("x")));
  EXPECT_EQ(run.fixed.at("on"), Value(true));
  EXPECT_EQ(run.quick.at("alpha"), Value(std::string("0:1:1")));
  ASSERT_TRUE(run.axis.has_value());
  EXPECT_EQ(run.axis->values, (std::vector<double>{1.0, 2.0, 3.0}));
  EXPECT_EQ(run.axis->quick_values, (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(run.place.line, 4U);
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
  expect_refusal(changed("\"1:3:1\"", "\"1:3\""), "dir/fig.toml:9:39", "1:3");
  expect_refusal(changed("max = 1.5", "max = -1"), "dir/fig.toml:13:38", "above 'min'");
}

TEST(FigureSpec, RefusesIdsThatCouldNotBeFileNames) {
  expect_refusal(changed("id = \"line\"", "id = \"../line\""), "dir/fig.toml:5:6", "letters");
}

TEST(FigureSpec, ReportsAFileThatIsNotThereAsAFileError) {
  EXPECT_THROW((void)read_figure("no/such/figure.toml"), IoError);
}

}  // namespace
}  // namespace onset::report
