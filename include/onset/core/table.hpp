#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "onset/core/estimate.hpp"

namespace onset {

/// One value of a table; std::monostate is "no value" (null in JSON, empty in CSV).
using Cell = std::variant<std::monostate, bool, std::int64_t, double, Estimate, std::string>;

/// What a column holds. A plain double is an input echoed back (a grid value) or exact; every
/// computed number is an Estimate and gets a companion `<name>_err` in JSON and CSV.
struct Column {
  std::string name;
  std::string meaning;
  std::string unit;
  bool estimate = false;
};

/// Named columns and rows of cells.
class Table {
 public:
  Table() = default;
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Throws InvalidArgument when the number of cells is not the number of columns.
  void add_row(std::vector<Cell> row);

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  /// Index of a column; throws InvalidArgument with the nearest name when there is none.
  [[nodiscard]] std::size_t column(const std::string& name) const;
  [[nodiscard]] const Cell& at(std::size_t row, const std::string& name) const;
  /// The value of a numeric cell: that of an Estimate, or NaN where there is none.
  [[nodiscard]] double number(std::size_t row, const std::string& name) const;
  /// The standard error of a cell; it is 0 for anything but an Estimate.
  [[nodiscard]] double error(std::size_t row, const std::string& name) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace onset
