#include "report/figure_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>

#include "onset/core/error.hpp"
#include "onset/io/format.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

const std::string plain_series = "x = 'alpha'\ny = 'y'\n";

class FigureDataTest : public FolderTest {
 protected:
  [[nodiscard]] FigureData run_toy(const std::string& text, const FigureOptions& options = {},
                                   const Context& context = {}) const {
    return compute(parse_figure(text, "toy.toml"), options, context);
  }

  [[nodiscard]] std::string refusal(const std::string& text) const {
    try {
      (void)run_toy(text);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  }
};

TEST_F(FigureDataTest, HasTheRowsOfTheVerb) {
  const FigureData data =
      run_toy(toy_figure("fixed = {alpha = '0:1:0.5', slope = 3}", plain_series));
  const Table& table = data.run("line").table;
  ASSERT_EQ(table.rows().size(), 3U);
  EXPECT_EQ(table.number(2, "y"), 3.0);
  EXPECT_EQ(table.error(2, "y"), 0.1);
  EXPECT_EQ(data.status(), ResultStatus::ok);
  EXPECT_EQ(data.run("line").calls.at(0).integer("seed"), 1);
}

TEST_F(FigureDataTest, PutsTheAxisFirstAndJoinsTheRowsOfAllCalls) {
  const std::string run = "fixed = {alpha = '0,2'}\naxes = {slope = [1, 2, 3]}";
  const FigureData data = run_toy(toy_figure(run, plain_series));
  const Table& table = data.run("line").table;
  EXPECT_EQ(table.columns().front().name, "slope");
  ASSERT_EQ(table.rows().size(), 6U);
  EXPECT_EQ(table.number(5, "slope"), 3.0);
  EXPECT_EQ(table.number(5, "y"), 6.0);
  EXPECT_EQ(data.run("line").calls.size(), 3U);
}

TEST_F(FigureDataTest, UsesTheQuickParametersOnlyWhenAsked) {
  const std::string text = toy_figure(
      "fixed = {alpha = '0:1:0.1'}\nquick = {alpha = '0:1:0.5', slope = [1]}\n"
      "axes = {slope = [1, 2]}",
      plain_series);
  EXPECT_EQ(run_toy(text).run("line").table.rows().size(), 22U);
  EXPECT_EQ(run_toy(text, {.quick = true, .seed = 7}).run("line").table.rows().size(), 3U);
}

TEST_F(FigureDataTest, RefusesAColumnThatIsNotThereWithThePlaceOfItsSeries) {
  const std::string message =
      refusal(toy_figure("fixed = {alpha = '0,2'}", "x = 'alhpa'\ny = 'y'\n"));
  EXPECT_EQ(message.substr(0, 12), "toy.toml:9:1") << message;
  EXPECT_NE(message.find("alhpa"), std::string::npos) << message;
  EXPECT_NE(message.find("'alpha'"), std::string::npos) << message;
}

TEST_F(FigureDataTest, RefusesWrongParametersAndCommandsWithTheirPlace) {
  const std::string parameter =
      refusal(toy_figure("fixed = {alpha = '0', slop = 1}", plain_series));
  EXPECT_EQ(parameter.substr(0, 13), "toy.toml:5:23") << parameter;
  EXPECT_NE(parameter.find("slope"), std::string::npos) << parameter;
  std::string text = toy_figure("fixed = {alpha = '0'}", plain_series);
  text.replace(text.find("toy line"), 8, "toy lime");
  const std::string command = refusal(text);
  EXPECT_EQ(command.substr(0, 12), "toy.toml:4:1") << command;
  EXPECT_NE(command.find("'toy line'"), std::string::npos) << command;
}

TEST_F(FigureDataTest, KeepsTheWorstStatusOfItsCalls) {
  const FigureData data =
      run_toy(toy_figure("fixed = {alpha = '0,2'}\naxes = {slope = [1, -1, 2]}", plain_series));
  EXPECT_EQ(data.status(), ResultStatus::unconverged);
  EXPECT_EQ(data.reason(), "run 'line': slope = -1: unconverged: a negative slope");
  EXPECT_EQ(data.run("line").table.rows().size(), 6U);
}

TEST_F(FigureDataTest, IsInterruptedWhenAStopWasRequested) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  const FigureData data = run_toy(toy_figure("fixed = {alpha = '0,2'}", plain_series), {}, context);
  EXPECT_EQ(data.status(), ResultStatus::interrupted);
}

TEST_F(FigureDataTest, ReportsProgressOfTheWhole) {
  std::vector<double> seen;
  Context context;
  context.progress = [&seen](double fraction, std::string_view) { seen.push_back(fraction); };
  (void)run_toy(toy_figure("fixed = {alpha = '0'}\naxes = {slope = [1, 2]}", plain_series), {},
                context);
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0);
}

TEST_F(FigureDataTest, ComputesNothingTwice) {
  const std::string text =
      toy_figure("fixed = {alpha = '0,2'}\naxes = {slope = [1, 2, -1, 200]}", plain_series);
  const FigureData first = run_toy(text);
  EXPECT_EQ(first.run("line").computed, 4U);
  const FigureData again = run_toy(text);
  EXPECT_EQ(again.run("line").computed, 0U);
  EXPECT_EQ(io::to_csv(again.run("line").table), io::to_csv(first.run("line").table));
  EXPECT_EQ(run_toy(text, {.retry = true}).run("line").computed, 2U);
}

TEST_F(FigureDataTest, SaysWhatIsWrongWithTheFirstOfSeveralPoints) {
  const FigureData data =
      run_toy(toy_figure("fixed = {alpha = '0,2'}\naxes = {slope = [1, -1, 200]}", plain_series));
  EXPECT_EQ(data.status(), ResultStatus::unconverged);
  EXPECT_EQ(data.reason(),
            "run 'line': 2 points, the first at slope = -1: unconverged: a negative slope");
  EXPECT_EQ(data.run("line").table.rows().size(), 4U);
}

TEST_F(FigureDataTest, GoesOnWhereAnInterruptedOneStopped) {
  const std::string text =
      toy_figure("fixed = {alpha = '0,2'}\naxes = {slope = [1, 2]}", plain_series);
  std::stop_source source;
  Context context;
  context.stop = source.get_token();
  // Stopped as soon as the first point is there.
  context.progress = [&source](double fraction, std::string_view) {
    if (fraction > 0.0) source.request_stop();
  };
  const FigureData half = run_toy(text, {}, context);
  const std::size_t done = half.run("line").computed;
  EXPECT_GE(done, 1U);
  const FigureData whole = run_toy(text);
  EXPECT_EQ(whole.run("line").computed, 2U - done);
  EXPECT_EQ(whole.status(), ResultStatus::ok);
}

TEST_F(FigureDataTest, HasTheSameRowsForAnyNumberOfThreads) {
  const std::string text =
      toy_figure("fixed = {alpha = '0,2'}\naxes = {slope = [3, 1, 2]}", plain_series);
  const std::string one = io::to_csv(run_toy(text).run("line").table);
  std::filesystem::remove(folder_ / "toy.db");
  Context context;
  context.threads = 3;
  EXPECT_EQ(io::to_csv(run_toy(text, {}, context).run("line").table), one);
}

}  // namespace
}  // namespace onset::report
