#include "onset/io/format.hpp"
#include "onset/core/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "unit/report/hostile_text.hpp"

namespace onset::io {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

RunRecord sample() {
  RunRecord record;
  record.command = "smi thresholds";
  record.parameters.set("layers", std::int64_t{2});
  record.parameters.set("alpha", std::vector<double>{0.1, 0.2});
  record.parameters.set("link", Value{});
  record.parameters.set("seed", std::int64_t{7});
  record.seconds = 0.25;
  record.result.table = Table({{"stage", "", "", false},
                               {"layers", "", "", false},
                               {"alpha", "", "", true},
                               {"converged", "", "", false}});
  record.result.table.add_row({std::int64_t{1}, "1,2", Estimate{0.185482, 0.000021}, true});
  record.result.table.add_row({std::int64_t{2}, "all", std::monostate{}, false});
  record.result.summary = {{"width", Estimate{1.0 / 3.0, 0.01}}, {"verdict", "fine"}};
  return record;
}

nlohmann::json parsed(const RunRecord& record) {
  return nlohmann::json::parse(to_json(record));
}

TEST(Json, ComesInPiecesAsItComesWhole) {
  const RunRecord whole = sample();
  for (const bool empty : {false, true}) {
    RunRecord record = sample();
    record.result.table = Table(whole.result.table.columns());
    std::string pieces = json_before_rows(record);
    bool first = true;
    for (const auto& row : whole.result.table.rows()) {
      if (empty) break;
      pieces += json_row(whole.result.table.columns(), row, first);
      first = false;
    }
    pieces += json_after_rows(record, !empty);
    EXPECT_EQ(pieces, to_json(empty ? record : whole));
  }
}

TEST(JsonLines, HaveARowEachAndNothingElse) {
  const std::string lines = to_json_lines(sample().result.table);
  const auto rows = nlohmann::ordered_json::parse(to_json(sample()))["rows"];
  std::istringstream in(lines);
  std::string line;
  for (const auto& row : rows) {
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(nlohmann::ordered_json::parse(line), row);
  }
  EXPECT_FALSE(std::getline(in, line));
}

TEST(Concise, TheErrorStandsInTheLastDigit) {
  EXPECT_EQ(concise({0.185482, 0.000021}), "0.18548(2)");
  EXPECT_EQ(concise({1.5, 0.2}), "1.5(2)");
  EXPECT_EQ(concise({-0.25, 0.003}), "-0.250(3)");
}

TEST(Concise, AnErrorThatBeginsWithOneHasTwoDigits) {
  EXPECT_EQ(concise({0.185482, 0.000012}), "0.185482(12)");
  EXPECT_EQ(concise({0.5, 0.00999}), "0.500(10)");
  EXPECT_EQ(concise({0.5, 0.1}), "0.50(10)");
}

TEST(Concise, LargeErrorsKeepWholeDigits) {
  EXPECT_EQ(concise({1234.0, 53.0}), "1234(53)");
  EXPECT_EQ(concise({0.0, 2.0}), "0(2)");
}

TEST(Concise, ExactValuesArePlain) {
  EXPECT_EQ(concise({0.3, 0.0}), "0.3");
  EXPECT_EQ(concise({2.0, 0.0}), "2");
  EXPECT_EQ(concise({1.0 / 6.0, 1e-15}), "0.1666666667");
  EXPECT_EQ(concise({1.0 / 6.0, 1e-12}), "0.1666666666667(10)");
  EXPECT_EQ(concise({inf, 0.1}), "inf");
}

TEST(Concise, VerySmallAndVeryLargeNumbersHaveAnExponent) {
  EXPECT_EQ(concise({1.2345e-7, 6e-11}), "1.2345(6)e-7");
  EXPECT_EQ(concise({2.5e9, 3e7}), "2.50(3)e9");
}

TEST(Concise, ZeroHasNoSign) {
  EXPECT_EQ(concise({-0.3, 62.0}), "0(62)");
  EXPECT_EQ(concise({-0.0004, 0.3}), "0.0(3)");
  EXPECT_EQ(concise({-0.0, 0.0}), "0");
  EXPECT_EQ(concise({-0.0004, 0.0}), "-0.0004");
  EXPECT_EQ(concise({-1e8, 6e9}), "0(6)e9");
}

TEST(Concise, AnUnknownErrorIsMarked) {
  EXPECT_EQ(concise({0.5, inf}), "0.5(?)");
  EXPECT_EQ(concise({0.5, nan_value}), "0.5(?)");
}

TEST(Concise, AnErrorBelowRoundingDoesNotInventDigits) {
  EXPECT_LT(concise({0.5, 1e-30}).size(), 24u);
}

TEST(TableText, ColumnsLineUpAndTheFooterExplains) {
  EXPECT_EQ(to_table(sample().result),
            "stage  layers       alpha  converged\n"
            "-----  ------  ----------  ---------\n"
            "    1  1,2     0.18548(2)        yes\n"
            "    2  all              -         no\n"
            "\n"
            "width: 0.333(10)\n"
            "verdict: fine\n"
            "In parentheses: the standard error of the last digits; 0.18(2) is 0.18 +- 0.02.\n");
}

/// Ten rows of a grid, two estimates, a diagnostic and a state.
Result wide_result() {
  Result result;
  result.table = Table({{"alpha", "", "", false},
                        {"overlap", "", "", true},
                        {"free_entropy", "", "", true},
                        {"residual", "", "", false},
                        {"converged", "", "", false}});
  for (int i = 1; i <= 10; ++i) {
    result.table.add_row({0.1 * i, Estimate{0.5, 0.01}, Estimate{-1.0, 0.0}, 6e-5, true});
  }
  return result;
}

TEST(TableText, WhatDoesNotFitIsNamedAndEstimatesAndStatesStay) {
  TableLayout layout;
  layout.width = 40;
  layout.max_rows = 3;
  layout.how_to_see_columns = "ask";
  layout.how_to_see_rows = "look there";
  EXPECT_EQ(to_table(wide_result(), layout),
            "alpha    overlap  converged\n"
            "-----  ---------  ---------\n"
            "  0.1  0.500(10)        yes\n"
            "  0.2  0.500(10)        yes\n"
            "..\n"
            "    1  0.500(10)        yes\n"
            "\n"
            "3 of 10 rows; look there.\n"
            "Not shown: free_entropy, residual; ask.\n"
            "In parentheses: the standard error of\n"
            "the last digits; 0.18(2) is 0.18 +-\n"
            "0.02.\n");
}

TEST(TableText, ColumnsMayBeChosenAndOnlyThereAreThose) {
  TableLayout layout;
  layout.columns = {"converged", "alpha"};
  EXPECT_EQ(to_table(wide_result(), layout).substr(0, 18), "converged  alpha\n-");
  layout.columns = {"overlp"};
  try {
    (void)to_table(wide_result(), layout);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'overlap'"), std::string::npos);
  }
}

TEST(TableText, NumbersOfAColumnAreWrittenAlike) {
  Result result;
  result.table = Table({{"residual", "", "", false}});
  for (const double x : {0.0, 6e-5, 0.00075}) result.table.add_row({x});
  EXPECT_EQ(to_table(result), "residual\n--------\n       0\n 6.0e-05\n 7.5e-04\n");
}

TEST(TableText, NumbersOfAColumnOfDifferentThingsAreWrittenEachInItsOwnWay) {
  Result result;
  result.table = Table({{"value", "", "", false}});
  for (const double value : {128.0, 4e-16, 0.25}) result.table.add_row({value});
  EXPECT_EQ(to_table(result), "value\n-----\n  128\n4e-16\n 0.25\n");
}

TEST(TableText, WhatIsNotKnownIsADash) {
  Result result;
  result.summary.emplace_back("half", Estimate{nan_value, nan_value});
  EXPECT_EQ(to_table(result), "half: -\n");
}

TEST(TableText, NotesAndAnUnhappyEndAreSaid) {
  Result result;
  result.status = ResultStatus::refused;
  result.reason = "too many tokens";
  result.notes = {"One replicate was dropped."};
  EXPECT_EQ(to_table(result),
            "note: One replicate was dropped.\nstatus: refused: too many tokens\n");
}

TEST(TableText, WhatWasRefusedHasNoTableUnlessItHasRows) {
  Result result;
  result.table = Table({{"alpha", "", "", false}});
  result.status = ResultStatus::refused;
  result.reason = "too many tokens";
  EXPECT_EQ(to_table(result), "status: refused: too many tokens\n");
  result.table.add_row({0.5});
  EXPECT_EQ(to_table(result), "alpha\n-----\n  0.5\n\nstatus: refused: too many tokens\n");
}

TEST(Csv, EstimatesAreFollowedByTheirErrors) {
  EXPECT_EQ(to_csv(sample().result.table),
            "stage,layers,alpha,alpha_err,converged\n"
            "1,\"1,2\",0.185482,2.1e-05,true\n"
            "2,all,,,false\n");
}

TEST(Csv, QuotesAndLineBreaksAreQuoted) {
  Table table({{"a", "", "", false}, {"b", "", "", false}});
  table.add_row({"say \"x\"", "two\nlines"});
  table.add_row({"", inf});
  EXPECT_EQ(to_csv(table), "a,b\n\"say \"\"x\"\"\",\"two\nlines\"\n\"\",inf\n");
}

TEST(Csv, WhatATerminalWouldObeyIsWrittenOut) {
  Table table({{"a\x1b[31m", "", "", false}});
  table.add_row({"x\x07\xe2\x80\xae"});
  EXPECT_EQ(to_csv(table), "a\\x1b[31m\nx\\x07\\xe2\\x80\\xae\n");
}

TEST(TableText, WhatATerminalWouldObeyIsWrittenOut) {
  Result result;
  result.table = Table({{"file", "", "", false}});
  result.table.add_row({"x\x1b[31m\ny"});
  result.notes = {"of \x1b]0;title\x07"};
  EXPECT_EQ(to_table(result),
            "file\n--------------\nx\\x1b[31m\\x0ay\n\nnote: of \\x1b]0;title\\x07\n");
}

TEST(Csv, NumbersReadBackToTheSameBits) {
  Table table({{"x", "", "", false}});
  for (const double x : {1.0 / 3.0, 0.1, 5e-324, 1.7976931348623157e308, 123456789.123456789}) {
    table = Table({{"x", "", "", false}});
    table.add_row({x});
    const std::string text = to_csv(table);
    EXPECT_EQ(std::strtod(text.c_str() + 2, nullptr), x) << text;
  }
}

TEST(Json, HasTheKeysOfTheContractInOrder) {
  const auto object = nlohmann::ordered_json::parse(to_json(sample()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"schema", "onset", "command", "parameters", "seed",
                                            "rows", "summary", "status", "seconds"}));
}

TEST(Json, CarriesValuesErrorsAndNulls) {
  const auto object = parsed(sample());
  EXPECT_EQ(object["schema"], 1);
  EXPECT_EQ(object["seed"], 7);
  EXPECT_EQ(object["parameters"]["alpha"], (std::vector<double>{0.1, 0.2}));
  EXPECT_TRUE(object["parameters"]["link"].is_null());
  EXPECT_EQ(object["rows"][0]["alpha"], 0.185482);
  EXPECT_EQ(object["rows"][0]["alpha_err"], 0.000021);
  EXPECT_EQ(object["rows"][0]["converged"], true);
  EXPECT_TRUE(object["rows"][1]["alpha"].is_null());
  EXPECT_TRUE(object["rows"][1]["alpha_err"].is_null());
  EXPECT_EQ(object["summary"]["width"], 1.0 / 3.0);
  EXPECT_EQ(object["summary"]["width_err"], 0.01);
  EXPECT_FALSE(object["summary"].contains("verdict_err"));
}

TEST(Json, WhatIsNotFiniteIsNull) {
  RunRecord record = sample();
  record.result.table.add_row({std::int64_t{3}, "1", Estimate{nan_value, inf}, true});
  const auto row = parsed(record)["rows"][2];
  EXPECT_TRUE(row["alpha"].is_null());
  EXPECT_TRUE(row["alpha_err"].is_null());
}

TEST(Json, AReasonComesWithEveryStatusButOk) {
  RunRecord record = sample();
  record.result.status = ResultStatus::unconverged;
  record.result.reason = "two points";
  record.result.notes = {"A note."};
  const auto object = parsed(record);
  EXPECT_EQ(object["status"], "unconverged");
  EXPECT_EQ(object["reason"], "two points");
  EXPECT_EQ(object["notes"][0], "A note.");
}

TEST(Json, BytesThatAreNotUnicodeDoNotFail) {
  RunRecord record = sample();
  record.parameters.set("data", std::string("bad \xff path"));
  EXPECT_NO_THROW((void)parsed(record));
}

TEST(Formats, HoldAnyTextOfOthers) {
  for (const std::string& text : report::hostile_texts("touch pwned", 100)) {
    RunRecord record = sample();
    record.command = text;
    record.parameters.set(text, text);
    record.result.table = Table({{text, text, text, true}, {"word", "", "", false}});
    record.result.table.add_row({Estimate{1.0, 0.5}, text});
    record.result.notes = {text};
    record.result.unconverged(text);
    record.result.summary = {{text, text}};
    for (const std::string& shown : {to_table(record.result, {}), to_csv(record.result.table)}) {
      EXPECT_EQ(shown.find_first_of("\x1b\x03\r"), std::string::npos) << text;
    }
    // One line for every row: no text of a table has a line of its own.
    EXPECT_EQ(to_json_lines(record.result.table).find('\n'),
              to_json_lines(record.result.table).size() - 1);
    EXPECT_EQ(parsed(record)["rows"].size(), 1U);
  }
}

}  // namespace
}  // namespace onset::io
