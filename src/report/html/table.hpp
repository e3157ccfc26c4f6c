#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "onset/core/parameters.hpp"
#include "onset/core/table.hpp"

namespace onset::report::html {

struct TableCell {
  std::string html;
  std::optional<double> number;  ///< what it is sorted by; if empty, its text
};

struct TableHead {
  std::string name;
  std::string meaning;  ///< shown when pointed at
};

/// A table whose rows are sorted by clicking on its heads.
struct SortableTable {
  std::string label;  ///< what it shows, for those who do not see it
  std::vector<TableHead> heads;
  std::vector<std::vector<TableCell>> rows;
};

[[nodiscard]] TableCell cell_of(const Cell& cell);
[[nodiscard]] TableCell cell_of(const Value& value);
[[nodiscard]] TableCell text_cell(const std::string& text);
/// A cell of sentences, which gets some width even on a phone.
[[nodiscard]] TableCell words_cell(const std::string& text);
/// A cell of sentences on one line, so that rows stay low; for the last column.
[[nodiscard]] TableCell line_cell(const std::string& text);
[[nodiscard]] TableCell code_cell(const std::string& text);
[[nodiscard]] TableCell number_cell(double value);

/// The first rows of a table of results. Throws Interrupted when a stop was requested.
[[nodiscard]] SortableTable sortable(const Table& table, std::size_t max_rows,
                                     const std::stop_token& stop);

/// Throws Interrupted when a stop was requested.
[[nodiscard]] std::string to_html(const SortableTable& table, const std::stop_token& stop);

}  // namespace onset::report::html
