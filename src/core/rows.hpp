#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onset/core/table.hpp"

namespace onset {
namespace detail {

[[nodiscard]] Column column(std::string_view name, std::string_view meaning, std::string_view unit,
                            bool estimate);

template <class T>
[[nodiscard]] Cell to_cell(const T& x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<std::int64_t>(x);
  } else {
    return x;
  }
}
template <class T>
[[nodiscard]] Cell to_cell(const std::optional<T>& x) {
  return x ? to_cell(*x) : Cell{};
}

template <class T>
inline constexpr bool is_estimate =
    std::is_same_v<T, Estimate> || std::is_same_v<T, std::optional<Estimate>>;

}  // namespace detail

/// The columns of a kind of rows: which member of a row each one shows, and what it means. Written
/// once; a cell cannot land in another column. A column has errors if its member is an Estimate.
template <class Row>
class Columns {
 public:
  template <class T>
  Columns& add(std::string_view name, T Row::*member, std::string_view meaning,
               std::string_view unit = {}) {
    list_.push_back(detail::column(name, meaning, unit, detail::is_estimate<T>));
    writers_.push_back([member](const Row& row, std::vector<Cell>& cells) {
      cells.push_back(detail::to_cell(row.*member));
    });
    return *this;
  }

  /// One column for each item of a list, such as one overlap for every layer. A list of another
  /// length than `columns` is a mistake that Table::add_row refuses.
  template <class T>
  Columns& add_each(std::vector<Column> columns, std::vector<T> Row::*member) {
    for (Column& column : columns) {
      column.estimate = detail::is_estimate<T>;
      list_.push_back(std::move(column));
    }
    writers_.push_back([member](const Row& row, std::vector<Cell>& cells) {
      for (const T& item : row.*member) cells.push_back(detail::to_cell(item));
    });
    return *this;
  }

  [[nodiscard]] const std::vector<Column>& list() const { return list_; }

  [[nodiscard]] std::vector<Cell> cells(const Row& row) const {
    std::vector<Cell> out;
    for (const auto& write : writers_) write(row, out);
    return out;
  }

  /// An empty table of these columns.
  [[nodiscard]] Table table() const { return Table(list_); }
  [[nodiscard]] Table table(const std::vector<Row>& rows) const {
    Table out(list_);
    for (const Row& row : rows) out.add_row(cells(row));
    return out;
  }

 private:
  std::vector<Column> list_;
  std::vector<std::function<void(const Row&, std::vector<Cell>&)>> writers_;
};

}  // namespace onset
