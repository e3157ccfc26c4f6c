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

/// The cell of a member of type T, or the cells of a list of them. The types that a member may have
/// are listed in rows.cpp, where these are compiled: they are the same for all rows.
template <class T>
void write_cell(const void* member, std::vector<Cell>& cells);
template <class T>
void write_cells(const void* member, std::vector<Cell>& cells);

template <class T>
inline constexpr bool is_estimate =
    std::is_same_v<T, Estimate> || std::is_same_v<T, std::optional<Estimate>>;

/// The columns of rows whose type is known to others: Columns keeps it, so that a row meets its own
/// columns only.
class RowWriter {
 public:
  using WriteCells = void (*)(const void* member, std::vector<Cell>& cells);
  /// Where a member lies in a row.
  using Place = std::function<const void*(const void* row)>;

  void add(Column column, WriteCells write, Place place);
  void add_each(std::vector<Column> columns, bool estimate, WriteCells write, Place place);

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] std::vector<Cell> cells(const void* row) const;

 private:
  struct Member {
    WriteCells write;
    Place place;
  };
  std::vector<Column> columns_;
  std::vector<Member> members_;
};

}  // namespace detail

/// The columns of a kind of rows: which member of a row each one shows, and what it means. Written
/// once; a cell cannot land in another column. A column has errors if its member is an Estimate.
template <class Row>
class Columns {
 public:
  template <class T>
  Columns& add(std::string_view name, T Row::*member, std::string_view meaning,
               std::string_view unit = {}) {
    writer_.add(detail::column(name, meaning, unit, detail::is_estimate<T>), &detail::write_cell<T>,
                place(member));
    return *this;
  }

  /// One column for each item of a list, such as one overlap for every layer. A list of another
  /// length than `columns` is a mistake that Table::add_row refuses.
  template <class T>
  Columns& add_each(std::vector<Column> columns, std::vector<T> Row::*member) {
    writer_.add_each(std::move(columns), detail::is_estimate<T>, &detail::write_cells<T>,
                     place(member));
    return *this;
  }

  [[nodiscard]] const std::vector<Column>& list() const { return writer_.columns(); }

  [[nodiscard]] std::vector<Cell> cells(const Row& row) const { return writer_.cells(&row); }

  /// An empty table of these columns.
  [[nodiscard]] Table table() const { return Table(list()); }
  [[nodiscard]] Table table(const std::vector<Row>& rows) const {
    Table out(list());
    for (const Row& row : rows) out.add_row(cells(row));
    return out;
  }

 private:
  template <class T>
  static detail::RowWriter::Place place(T Row::*member) {
    return [member](const void* row) -> const void* {
      return &(static_cast<const Row*>(row)->*member);
    };
  }

  detail::RowWriter writer_;
};

}  // namespace onset
