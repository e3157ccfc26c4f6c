#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/printable.hpp"
#include "onset/io/format.hpp"

namespace onset::io {
namespace {

/// Control characters are written out: no text of ours has any, and those of others are not for
/// the terminal that a file is looked at on.
std::string quoted_field(const std::string& given) {
  std::string text = printable(given, all_of_it);
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// Writes the fewest digits that read back to the same bits; inf and nan are written as words.
std::string number_field(double x) {
  return fmt::format("{}", x);
}

std::string value_field(const Cell& cell) {
  struct Writer {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return number_field(real); }
    std::string operator()(const Estimate& estimate) const { return number_field(estimate.value); }
    std::string operator()(const std::string& text) const { return quoted_field(text); }
  };
  return std::visit(Writer{}, cell);
}

std::string error_field(const Cell& cell) {
  if (const auto* estimate = std::get_if<Estimate>(&cell)) {
    return std::isnan(estimate->error) ? std::string() : number_field(estimate->error);
  }
  return std::holds_alternative<std::monostate>(cell) ? "" : "0";
}

}  // namespace

std::string csv_header(const std::vector<Column>& columns) {
  std::string out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) out += ',';
    out += quoted_field(columns[c].name);
    if (columns[c].estimate) out += ',' + quoted_field(columns[c].name + "_err");
  }
  return out + '\n';
}

std::string csv_row(const std::vector<Column>& columns, const std::vector<Cell>& row) {
  std::string out;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c > 0) out += ',';
    out += value_field(row[c]);
    if (columns[c].estimate) out += ',' + error_field(row[c]);
  }
  return out + '\n';
}

std::string to_csv(const Table& table) {
  std::string out = csv_header(table.columns());
  for (const auto& row : table.rows()) out += csv_row(table.columns(), row);
  return out;
}

}  // namespace onset::io
