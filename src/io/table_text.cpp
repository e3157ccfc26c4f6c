#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "onset/io/format.hpp"

namespace onset::io {
namespace {

std::string cell_text(const Cell& cell) {
  struct Writer {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool truth) const { return truth ? "yes" : "no"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return concise({real, 0.0}); }
    std::string operator()(const Estimate& estimate) const { return concise(estimate); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{}, cell);
}

bool has_error(const Cell& cell) {
  const auto* estimate = std::get_if<Estimate>(&cell);
  return estimate != nullptr && estimate->error != 0.0;
}

/// Text reads best flush left, numbers flush right.
bool is_text_column(const Table& table, std::size_t column) {
  return std::any_of(table.rows().begin(), table.rows().end(), [&](const auto& row) {
    return std::holds_alternative<std::string>(row[column]);
  });
}

void append_line(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

void append_rows(std::string& out, const Table& table) {
  const std::size_t columns = table.columns().size();
  std::vector<std::vector<std::string>> lines(table.rows().size() + 1);
  for (const Column& column : table.columns()) lines[0].push_back(column.name);
  for (std::size_t r = 0; r < table.rows().size(); ++r) {
    for (const Cell& cell : table.rows()[r]) lines[r + 1].push_back(cell_text(cell));
  }
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> left(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    left[c] = is_text_column(table, c);
    for (const auto& line : lines) widths[c] = std::max(widths[c], line[c].size());
  }
  for (std::size_t r = 0; r < lines.size(); ++r) {
    std::string text;
    std::string rule;
    for (std::size_t c = 0; c < columns; ++c) {
      if (c > 0) text += "  ";
      if (c > 0) rule += "  ";
      text += left[c] ? fmt::format("{:<{}}", lines[r][c], widths[c])
                      : fmt::format("{:>{}}", lines[r][c], widths[c]);
      rule += std::string(widths[c], '-');
    }
    append_line(out, text);
    if (r == 0) append_line(out, rule);
  }
}

bool any_error(const Result& result) {
  for (const auto& row : result.table.rows()) {
    if (std::any_of(row.begin(), row.end(), has_error)) return true;
  }
  return std::any_of(result.summary.begin(), result.summary.end(),
                     [](const auto& entry) { return has_error(entry.second); });
}

}  // namespace

std::string to_table(const Result& result) {
  std::string out;
  if (!result.table.columns().empty()) append_rows(out, result.table);
  std::string below;
  for (const auto& [name, cell] : result.summary) {
    append_line(below, fmt::format("{}: {}", name, cell_text(cell)));
  }
  if (any_error(result)) {
    append_line(
        below,
        "In parentheses: the standard error of the last digits; 0.185(2) is 0.185 +- 0.002.");
  }
  for (const std::string& note : result.notes) append_line(below, "note: " + note);
  if (result.status != ResultStatus::ok) {
    append_line(below, fmt::format("status: {}{}{}", to_string(result.status),
                                   result.reason.empty() ? "" : ": ", result.reason));
  }
  if (!below.empty() && !out.empty()) out += '\n';
  return out + below;
}

}  // namespace onset::io
