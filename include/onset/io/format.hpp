#pragma once

#include <string>
#include <vector>

#include "onset/core/verb.hpp"

/// Writers of results. They return text and touch no file.
namespace onset::io {

/// One run: what was asked, what came out, how long it took.
struct RunRecord {
  std::string command;    ///< say "smi thresholds"
  Parameters parameters;  ///< all effective ones; `seed` among them
  int method = 1;         ///< Verb::method
  double seconds = 0.0;
  Result result;
};

/// A value and its error as papers print them: 0.18548(2) is 0.18548 with a standard error of
/// 0.00002. The error has one digit, or two when its first digit is 1. An exact value is plain.
[[nodiscard]] std::string concise(const Estimate& estimate);

/// How much of a table people are shown.
struct TableLayout {
  std::size_t width = 0;  ///< letters in a line; 0 for no limit
  /// The columns to show, by name, or `all`; empty for those that fit, estimates and states first.
  std::vector<std::string> columns = {};
  std::size_t max_rows = 0;  ///< of a longer table head and tail are shown; 0 for no limit
  /// What to do to see the rest, said where something is not shown.
  std::string how_to_see_columns = {};
  std::string how_to_see_rows = {};
};

/// Aligned columns for people, then what is not shown, the summary, what the parentheses mean,
/// notes and status. Throws InvalidArgument for a column that there is not.
[[nodiscard]] std::string to_table(const Result& result, const TableLayout& layout = {});

/// A header and rows, quoted as RFC 4180 says, with lines that end in a line feed. An estimate
/// column `x` is followed by `x_err`. Numbers read back to the same bits, and a missing value is an
/// empty field.
[[nodiscard]] std::string to_csv(const Table& table);

/// The header and one row of the same, for tables that are written as they come.
[[nodiscard]] std::string csv_header(const std::vector<Column>& columns);
[[nodiscard]] std::string csv_row(const std::vector<Column>& columns, const std::vector<Cell>& row);

/// One JSON object: schema, onset, command, parameters, seed, rows, summary, status, seconds;
/// reason and notes where there are any. Every estimate `x` has its `x_err`. Numbers that are not
/// finite become null.
[[nodiscard]] std::string to_json(const RunRecord& record);

/// The same in pieces: what stands before the rows, a row (each but the first has a comma before
/// it) and what stands behind them. The record has columns but no rows.
[[nodiscard]] std::string json_before_rows(const RunRecord& record);
[[nodiscard]] std::string json_row(const std::vector<Column>& columns, const std::vector<Cell>& row,
                                   bool first);
[[nodiscard]] std::string json_after_rows(const RunRecord& record, bool any_rows);

/// The rows alone, one JSON object in each line, for programs that read lines.
[[nodiscard]] std::string to_json_lines(const Table& table);

}  // namespace onset::io
