#include "onset/core/table.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/suggestion.hpp"
#include "onset/core/error.hpp"

namespace onset {

void Table::add_row(std::vector<Cell> row) {
  if (row.size() != columns_.size()) {
    throw InvalidArgument("row", fmt::format("has {} cells; allowed: {}, one per column",
                                             row.size(), columns_.size()));
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    // Writers add an error column only where the column is declared an estimate; elsewhere the
    // error would be lost.
    if (std::holds_alternative<Estimate>(row[i]) && !columns_[i].estimate) {
      throw InvalidArgument(columns_[i].name,
                            "an estimate in a column that is not marked as estimate; allowed: a "
                            "plain value, or mark the column");
    }
  }
  rows_.push_back(std::move(row));
}

std::size_t Table::column(const std::string& name) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name == name) return i;
    names.push_back(columns_[i].name);
  }
  throw InvalidArgument(name, fmt::format("no such column; allowed: {}{}", fmt::join(names, ", "),
                                          suggestion(name, names)));
}

const Cell& Table::at(std::size_t row, const std::string& name) const {
  const std::size_t index = column(name);
  if (row >= rows_.size()) {
    throw InvalidArgument(
        "row", fmt::format("{} does not exist; allowed: less than {}", row, rows_.size()));
  }
  return rows_[row][index];
}

double Table::number(std::size_t row, const std::string& name) const {
  const Cell& cell = at(row, name);
  if (const auto* estimate = std::get_if<Estimate>(&cell)) return estimate->value;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? 1.0 : 0.0;
  if (std::holds_alternative<std::monostate>(cell)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  throw InvalidArgument(name, fmt::format("row {} holds text, not a number", row));
}

double Table::error(std::size_t row, const std::string& name) const {
  const auto* estimate = std::get_if<Estimate>(&at(row, name));
  return estimate ? estimate->error : 0.0;
}

}  // namespace onset
