#include "onset/report/figure_data.hpp"

#include <gtest/gtest.h>

#include <stop_token>

#include "onset/core/error.hpp"
#include "unit/report/toy_figure.hpp"

namespace onset::report {
namespace {

const std::string plain_series = "x = 'alpha'\ny = 'y'\n";

FigureData compute(const std::string& text, const FigureOptions& options = {},
                   const Context& context = {}) {
  const std::vector<Verb> verbs{toy_verb()};
  return compute_figure(parse_figure(text, "toy.toml"), verbs, options, context);
}

std::string refusal(const std::string& text) {
  try {
    (void)compute(text);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST(FigureData, HasTheRowsOfTheVerb) {
  const FigureData data =
      compute(toy_figure("fixed = {alpha = '0:1:0.5', slope = 3}", plain_series));
  const Table& table = data.run("line").table;
  ASSERT_EQ(table.rows().size(), 3U);
  EXPECT_EQ(table.number(2, "y"), 3.0);
  EXPECT_EQ(table.error(2, "y"), 0.1);
  EXPECT_EQ(data.status(), ResultStatus::ok);
  EXPECT_EQ(data.run("line").calls.at(0).integer("seed"), 1);
}

TEST(FigureData, PutsTheAxisFirstAndJoinsTheRowsOfAllCalls) {
  const std::string run =
      "fixed = {alpha = '0,2'}\naxis = {parameter = 'slope', values = [1, 2, 3]}";
  const FigureData data = compute(toy_figure(run, plain_series));
  const Table& table = data.run("line").table;
  EXPECT_EQ(table.columns().front().name, "slope");
  ASSERT_EQ(table.rows().size(), 6U);
  EXPECT_EQ(table.number(5, "slope"), 3.0);
  EXPECT_EQ(table.number(5, "y"), 6.0);
  EXPECT_EQ(data.run("line").calls.size(), 3U);
}

TEST(FigureData, UsesTheQuickParametersOnlyWhenAsked) {
  const std::string text = toy_figure(
      "fixed = {alpha = '0:1:0.1'}\nquick = {alpha = '0:1:0.5'}\n"
      "axis = {parameter = 'slope', values = [1, 2], quick = [1]}",
      plain_series);
  EXPECT_EQ(compute(text).run("line").table.rows().size(), 22U);
  EXPECT_EQ(compute(text, {.quick = true, .seed = 7}).run("line").table.rows().size(), 3U);
}

TEST(FigureData, RefusesAColumnThatIsNotThereWithThePlaceOfItsSeries) {
  const std::string message =
      refusal(toy_figure("fixed = {alpha = '0,2'}", "x = 'alhpa'\ny = 'y'\n"));
  EXPECT_EQ(message.substr(0, 12), "toy.toml:9:1") << message;
  EXPECT_NE(message.find("alhpa"), std::string::npos) << message;
  EXPECT_NE(message.find("'alpha'"), std::string::npos) << message;
}

TEST(FigureData, RefusesWrongParametersAndCommandsWithThePlaceOfTheirRun) {
  const std::string parameter =
      refusal(toy_figure("fixed = {alpha = '0', slop = 1}", plain_series));
  EXPECT_EQ(parameter.substr(0, 12), "toy.toml:2:1") << parameter;
  EXPECT_NE(parameter.find("slope"), std::string::npos) << parameter;
  std::string text = toy_figure("fixed = {alpha = '0'}", plain_series);
  text.replace(text.find("toy line"), 8, "toy lime");
  const std::string command = refusal(text);
  EXPECT_EQ(command.substr(0, 12), "toy.toml:2:1") << command;
  EXPECT_NE(command.find("'toy line'"), std::string::npos) << command;
}

TEST(FigureData, KeepsTheWorstStatusOfItsCalls) {
  const FigureData data = compute(toy_figure(
      "fixed = {alpha = '0,2'}\naxis = {parameter = 'slope', values = [1, -1, 2]}", plain_series));
  EXPECT_EQ(data.status(), ResultStatus::unconverged);
  EXPECT_EQ(data.reason(), "run 'line': a negative slope");
  EXPECT_EQ(data.run("line").table.rows().size(), 6U);
}

TEST(FigureData, IsInterruptedWhenAStopWasRequested) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  const FigureData data = compute(toy_figure("fixed = {alpha = '0,2'}", plain_series), {}, context);
  EXPECT_EQ(data.status(), ResultStatus::interrupted);
}

TEST(FigureData, ReportsProgressOfTheWhole) {
  std::vector<Verb> verbs{toy_verb()};
  verbs[0].run = [](const Parameters&, const Context& context) {
    context.report(0.5, "half");
    return Result{};
  };
  std::vector<double> seen;
  Context context;
  context.progress = [&seen](double fraction, std::string_view) { seen.push_back(fraction); };
  const std::string text = toy_figure(
      "fixed = {alpha = '0'}\naxis = {parameter = 'slope', values = [1, 2]}", plain_series);
  (void)compute_figure(parse_figure(text, "toy.toml"), verbs, {}, context);
  EXPECT_EQ(seen, (std::vector<double>{0.25, 0.75}));
}

}  // namespace
}  // namespace onset::report
