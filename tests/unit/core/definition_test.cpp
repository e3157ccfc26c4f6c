#include "core/definition.hpp"

#include <gtest/gtest.h>

#include "core/rows.hpp"
#include "support/complaint.hpp"

namespace onset {
namespace {

enum class Colour { red, green };

std::string_view to_string(Colour colour) {
  return colour == Colour::red ? "red" : "green";
}

struct Paint {
  int coats = 2;
  std::vector<int> rank = {1};
  double dim = 1000.0;
  std::optional<double> rate = {};
  Colour colour = Colour::green;
  std::vector<double> alpha = {};
  std::optional<std::string> file = {};
  bool dry = false;
  std::uint64_t seed = 1;
  std::optional<double> tol = {};
};

struct Wall {
  double area = 0.0;
};

struct PaintRow {
  std::string what = {};
  std::optional<Estimate> amount = {};
  std::vector<double> each = {};
};

Columns<PaintRow> paint_columns(std::size_t coats) {
  std::vector<Column> each;
  for (std::size_t i = 1; i <= coats; ++i) each.push_back({"coat" + std::to_string(i), "coat", ""});
  return Columns<PaintRow>()
      .add("what", &PaintRow::what, "what")
      .add("amount", &PaintRow::amount, "how much", "l")
      .add_each(each, &PaintRow::each);
}

Definition<Paint, Wall> paint() {
  Definition<Paint, Wall> d;
  d.family = "toy";
  d.name = "paint";
  d.primary = "amount";
  d.usual_tolerance = "0.1, or 0.2 for three coats and more,";
  d.rows = {{"", paint_columns(2).list()}};
  d.fields.add("coats", &Paint::coats, {.min = 1, .max = 5}, "Coats.")
      .add("rank", &Paint::rank, {.min = 1, .max = 4}, "Ranks.")
      .add("dim", &Paint::dim, {.min = 3, .max = 1e12, .whole = true}, "Dimension.")
      .add("rate", &Paint::rate, {.min = 0, .open_min = true}, "Rate.")
      .add_word("colour", &Paint::colour, {Colour::red, Colour::green}, "Colour.")
      .add("alpha", &Paint::alpha, {.required = true, .grid = true}, "Ratios.")
      .add("file", &Paint::file, {}, "A file.")
      .add("dry", &Paint::dry, {}, "Whether it is dry.");
  d.settle = [](Paint& p) {
    if (!p.tol) p.tol = p.coats > 2 ? 0.2 : 0.1;
    if (!p.rate) p.rate = 1.0 / p.dim;
    if (p.colour == Colour::red && p.dry) throw Refused("red never dries");
    return Wall{10.0 * p.coats};
  };
  d.cost = [](const Paint&, const Wall& wall) { return Cost{"a brush", wall.area, 0.0}; };
  d.run = [](const Paint& p, const Wall& wall, const Context& context, Result& result) {
    const auto columns = paint_columns(static_cast<std::size_t>(p.coats));
    result.table = columns.table();
    for (const double alpha : p.alpha) {
      result.table.add_row(
          columns.cells({.what = std::string(to_string(p.colour)),
                         .amount = Estimate{alpha * wall.area, *p.tol},
                         .each = std::vector<double>(static_cast<std::size_t>(p.coats), *p.rate)}));
      context.check();
    }
  };
  return d;
}

const std::map<std::string, Value> least = {{"alpha", std::string("0.5,1")}};

TEST(Definition, DefaultsAreThoseOfTheStruct) {
  const Verb verb = paint().verb();
  std::map<std::string, Value> fallback;
  for (const Parameter& p : verb.parameters) fallback[p.name] = p.fallback;
  EXPECT_EQ(fallback.at("coats"), Value(std::int64_t{2}));
  EXPECT_EQ(fallback.at("rank"), Value(std::vector<double>{1.0}));
  EXPECT_EQ(fallback.at("colour"), Value(std::string("green")));
  EXPECT_EQ(fallback.at("rate"), Value{});
  EXPECT_EQ(fallback.at("dry"), Value(false));
  EXPECT_EQ(fallback.at("seed"), Value(std::int64_t{1}));
  EXPECT_EQ(verb.parameters.back().name, "tol");
  EXPECT_NE(verb.parameters.back().text.find("of amount; 0.1, or 0.2"), std::string::npos);
}

TEST(Definition, WhatDependsOnOtherFieldsIsFilledOnceForEveryRequest) {
  const Verb verb = paint().verb();
  auto given = least;
  EXPECT_EQ(verb.settle(given).parameters.real("tol"), 0.1);
  given["coats"] = std::int64_t{3};
  const Call call = verb.settle(given);
  EXPECT_EQ(call.parameters.real("tol"), 0.2);
  EXPECT_EQ(call.parameters.real("rate"), 1e-3);
  EXPECT_EQ(call.cost.core_seconds, 30.0);
}

TEST(Definition, EffectiveParametersSettleToThemselves) {
  const Verb verb = paint().verb();
  const Call once = verb.settle(least);
  const Call twice = verb.settle(once.parameters.values());
  EXPECT_EQ(once.parameters.values(), twice.parameters.values());
}

TEST(Definition, TheStructGivesTheCommandsDefaultsAndRows) {
  const Verb verb = paint().verb();
  const Result command = run(verb, verb.settle(least), {});
  const Result direct = paint().verb().run({.alpha = {0.5, 1.0}}, {});
  ASSERT_EQ(command.table.rows().size(), 2u);
  ASSERT_EQ(direct.table.rows().size(), 2u);
  EXPECT_EQ(command.table.number(1, "amount"), 20.0);
  EXPECT_EQ(direct.table.number(1, "amount"), 20.0);
  EXPECT_EQ(direct.table.error(1, "amount"), 0.1);
  EXPECT_EQ(direct.table.number(1, "coat2"), 1e-3);
}

TEST(Definition, ValuesOfTheStructAreCheckedLikeOptions) {
  EXPECT_NE(testing::complaint([] {
              (void)paint().verb().run({.coats = 9, .alpha = {1}}, {});
            }).find("coats: 9 is out of range"),
            std::string::npos);
  EXPECT_NE(testing::complaint([] { (void)paint().verb().run({}, {}); }).find("alpha: required"),
            std::string::npos);
}

TEST(Definition, NumbersThatMustBeWholeAreRefusedOtherwise) {
  const Verb verb = paint().verb();
  auto given = least;
  given["rank"] = std::vector<double>{1.0, 1.5};
  EXPECT_NE(testing::complaint([&] { (void)verb.settle(given); }).find("1.5 is not whole"),
            std::string::npos);
}

TEST(Definition, ARefusalIsAnAnswerWithParametersOfItsOwn) {
  const Verb verb = paint().verb();
  auto given = least;
  given["colour"] = std::string("red");
  given["dry"] = true;
  const Call call = verb.settle(given);
  EXPECT_EQ(call.parameters.real("tol"), 0.1);
  const Result result = run(verb, call, {});
  EXPECT_EQ(result.status, ResultStatus::refused);
  EXPECT_EQ(result.reason, "red never dries");
}

TEST(Definition, AStoppedRunKeepsTheRowsThatItFinished) {
  const Verb verb = paint().verb();
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  const Result result = run(verb, verb.settle(least), context);
  EXPECT_EQ(result.status, ResultStatus::interrupted);
  EXPECT_EQ(result.table.rows().size(), 1u);
}

TEST(Columns, AMemberShowsInItsOwnColumnAndHasErrorsIfItIsAnEstimate) {
  const auto columns = paint_columns(1);
  EXPECT_FALSE(columns.list()[0].estimate);
  EXPECT_TRUE(columns.list()[1].estimate);
  EXPECT_EQ(columns.list()[1].unit, "l");
  const auto cells = columns.cells({.what = "x", .amount = std::nullopt, .each = {3.0}});
  EXPECT_EQ(cells.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(cells[1]));
  EXPECT_EQ(std::get<double>(cells[2]), 3.0);
}

}  // namespace
}  // namespace onset
