#include "core/rows.hpp"

#include <cstddef>

namespace onset::detail {

Column column(std::string_view name, std::string_view meaning, std::string_view unit,
              bool estimate) {
  return {std::string(name), std::string(meaning), std::string(unit), estimate};
}

template <class T>
void write_cell(const void* member, std::vector<Cell>& cells) {
  cells.push_back(to_cell(*static_cast<const T*>(member)));
}

template <class T>
void write_cells(const void* member, std::vector<Cell>& cells) {
  for (const T& item : *static_cast<const std::vector<T>*>(member)) cells.push_back(to_cell(item));
}

// A member of another type asks the linker for one more line here.
template void write_cell<bool>(const void*, std::vector<Cell>&);
template void write_cell<int>(const void*, std::vector<Cell>&);
template void write_cell<std::int64_t>(const void*, std::vector<Cell>&);
template void write_cell<std::size_t>(const void*, std::vector<Cell>&);
template void write_cell<double>(const void*, std::vector<Cell>&);
template void write_cell<Estimate>(const void*, std::vector<Cell>&);
template void write_cell<std::string>(const void*, std::vector<Cell>&);
template void write_cell<std::optional<bool>>(const void*, std::vector<Cell>&);
template void write_cell<std::optional<int>>(const void*, std::vector<Cell>&);
template void write_cell<std::optional<std::int64_t>>(const void*, std::vector<Cell>&);
template void write_cell<std::optional<std::size_t>>(const void*, std::vector<Cell>&);
template void write_cell<std::optional<double>>(const void*, std::vector<Cell>&);
template void write_cell<std::optional<Estimate>>(const void*, std::vector<Cell>&);
template void write_cell<std::optional<std::string>>(const void*, std::vector<Cell>&);
template void write_cells<int>(const void*, std::vector<Cell>&);
template void write_cells<std::size_t>(const void*, std::vector<Cell>&);
template void write_cells<double>(const void*, std::vector<Cell>&);
template void write_cells<Estimate>(const void*, std::vector<Cell>&);
template void write_cells<std::string>(const void*, std::vector<Cell>&);
template void write_cells<std::optional<double>>(const void*, std::vector<Cell>&);
template void write_cells<std::optional<Estimate>>(const void*, std::vector<Cell>&);

void RowWriter::add(Column column, WriteCells write, Place place) {
  columns_.push_back(std::move(column));
  members_.push_back({write, std::move(place)});
}

void RowWriter::add_each(std::vector<Column> columns, bool estimate, WriteCells write,
                         Place place) {
  for (Column& column : columns) {
    column.estimate = estimate;
    columns_.push_back(std::move(column));
  }
  members_.push_back({write, std::move(place)});
}

std::vector<Cell> RowWriter::cells(const void* row) const {
  std::vector<Cell> out;
  for (const Member& member : members_) member.write(member.place(row), out);
  return out;
}

}  // namespace onset::detail
