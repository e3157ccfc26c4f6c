#include "report/figure/average_repeats.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "onset/numerics/replicates.hpp"
#include "report/figure/pick.hpp"

namespace onset::report {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The columns that say which rows belong together: axes, and what comes before the first estimate
/// (the verb's own grid).
std::vector<std::size_t> identifying_columns(const Table& table,
                                             const std::vector<std::string>& axes,
                                             const std::vector<std::string>& repeats) {
  std::vector<std::size_t> out;
  bool leading = true;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    const Column& column = table.columns()[c];
    leading = leading && !column.estimate;
    const bool given = leading || contains(axes, column.name);
    if (given && !contains(repeats, column.name)) out.push_back(c);
  }
  return out;
}

using Row = std::vector<Cell>;

Cell mean_estimate(const std::vector<const Row*>& rows, std::size_t column) {
  std::vector<double> values;
  for (const Row* row : rows) {
    const auto* estimate = std::get_if<Estimate>(&(*row)[column]);
    if (estimate != nullptr && std::isfinite(estimate->value)) values.push_back(estimate->value);
  }
  if (rows.size() == 1) return rows.front()->at(column);
  return values.empty() ? Cell{} : Cell(numerics::mean_over_runs(values));
}

Cell common_cell(const std::vector<const Row*>& rows, std::size_t column) {
  const Cell& first = rows.front()->at(column);
  const bool same = std::all_of(rows.begin(), rows.end(), [&](const Row* row) {
    return label_text((*row)[column]) == label_text(first);
  });
  return same ? first : Cell{};
}

}  // namespace

Table average_repeats(const Table& table, const std::vector<std::string>& axes,
                      const std::vector<std::string>& repeats) {
  const std::vector<std::size_t> identity = identifying_columns(table, axes, repeats);
  std::vector<std::vector<const Row*>> groups;
  std::map<std::vector<std::string>, std::size_t> places;
  for (const Row& row : table.rows()) {
    std::vector<std::string> name;
    for (const std::size_t c : identity) name.push_back(label_text(row[c]));
    const auto [found, is_new] = places.try_emplace(name, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].push_back(&row);
  }
  std::vector<Column> columns;
  std::vector<std::size_t> kept;
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    if (contains(repeats, table.columns()[c].name)) continue;
    columns.push_back(table.columns()[c]);
    kept.push_back(c);
  }
  Table out(columns);
  for (const auto& rows : groups) {
    Row row;
    for (const std::size_t c : kept) {
      row.push_back(table.columns()[c].estimate ? mean_estimate(rows, c) : common_cell(rows, c));
    }
    out.add_row(std::move(row));
  }
  return out;
}

}  // namespace onset::report
