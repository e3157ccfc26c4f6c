#include <algorithm>

#include "onset/study/sweep.hpp"

namespace onset::study {
namespace {

/// The cell of a value. A list of one number is that number; a longer one is text, as on the
/// command line.
Cell cell_of(const Value& value) {
  struct Writer {
    Cell operator()(std::monostate) const { return {}; }
    Cell operator()(bool flag) const { return flag; }
    Cell operator()(std::int64_t whole) const { return whole; }
    Cell operator()(double real) const { return real; }
    Cell operator()(const std::vector<double>& list) const {
      return list.size() == 1 ? Cell(list.front()) : Cell(to_text(Value(list)));
    }
    Cell operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{}, value);
}

struct SamePlainValue {
  bool operator()(std::int64_t a, double b) const { return static_cast<double>(a) == b; }
  bool operator()(double a, std::int64_t b) const { return a == static_cast<double>(b); }
  bool operator()(const Estimate&, const Estimate&) const { return false; }
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

bool same(const Cell& a, const Cell& b) {
  return std::visit(SamePlainValue{}, a, b);
}

struct ComputedPoint {
  const StudyRecord::Entry* entry;
  PointRecord record;
};

std::vector<ComputedPoint> computed_points(const StudyRecord& study, const Store& store) {
  std::vector<ComputedPoint> out;
  for (const StudyRecord::Entry& entry : study.points) {
    std::optional<PointRecord> record = store.find(entry.key);
    if (record && !record->table.rows().empty()) out.push_back({&entry, std::move(*record)});
  }
  return out;
}

/// The columns of all points, in the order in which they first appear.
std::vector<Column> columns_of(const std::vector<ComputedPoint>& points) {
  std::vector<Column> out;
  for (const ComputedPoint& point : points) {
    for (const Column& column : point.record.table.columns()) {
      const auto known = std::find_if(
          out.begin(), out.end(), [&](const Column& other) { return other.name == column.name; });
      if (known == out.end()) {
        out.push_back(column);
      } else {
        known->estimate = known->estimate || column.estimate;
      }
    }
  }
  return out;
}

std::optional<std::size_t> find_column(const Table& table, const std::string& name) {
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    if (table.columns()[c].name == name) return c;
  }
  return std::nullopt;
}

/// Whether every row repeats the value of the axis in a column of its name.
bool is_repeated(const std::vector<ComputedPoint>& points, const std::string& axis,
                 std::size_t index) {
  return std::all_of(points.begin(), points.end(), [&](const ComputedPoint& point) {
    const auto column = find_column(point.record.table, axis);
    if (!column) return false;
    const Cell value = cell_of(point.entry->axis_values[index]);
    const auto& rows = point.record.table.rows();
    return std::all_of(rows.begin(), rows.end(),
                       [&](const auto& row) { return same(row[*column], value); });
  });
}

/// An axis that is a column of its own.
struct ShownAxis {
  std::size_t index;
  std::string column;
};

std::vector<ShownAxis> shown_axes(const StudyRecord& study,
                                  const std::vector<ComputedPoint>& points,
                                  const std::vector<Column>& columns) {
  std::vector<ShownAxis> out;
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    const std::string& axis = study.axes[i];
    const bool taken = std::any_of(columns.begin(), columns.end(),
                                   [&](const Column& column) { return column.name == axis; });
    if (taken && is_repeated(points, axis, i)) continue;
    out.push_back({i, taken ? "axis_" + axis : axis});
  }
  return out;
}

const std::vector<Column> timing_columns = {{"seconds", "wall time of the point", "s", false},
                                            {"threads", "threads of the point", "", false},
                                            {"host", "machine that computed it", "", false},
                                            {"finished", "when, UTC", "", false}};

}  // namespace

Table study_table(const StudyRecord& study, const Store& store, bool timing) {
  const std::vector<ComputedPoint> points = computed_points(study, store);
  const std::vector<Column> results = columns_of(points);
  const std::vector<ShownAxis> axes = shown_axes(study, points, results);

  std::vector<Column> columns;
  for (const ShownAxis& axis : axes) columns.push_back({axis.column, "axis value", "", false});
  columns.insert(columns.end(), results.begin(), results.end());
  if (timing) columns.insert(columns.end(), timing_columns.begin(), timing_columns.end());

  Table table(columns);
  for (const auto& [entry, record] : points) {
    std::vector<std::optional<std::size_t>> sources;
    for (const Column& column : results) sources.push_back(find_column(record.table, column.name));
    for (const auto& given : record.table.rows()) {
      std::vector<Cell> row;
      for (const ShownAxis& axis : axes) row.push_back(cell_of(entry->axis_values[axis.index]));
      for (const auto& source : sources) row.push_back(source ? given[*source] : Cell{});
      if (timing) {
        row.insert(row.end(), {record.seconds, static_cast<std::int64_t>(record.threads),
                               record.host, record.finished});
      }
      table.add_row(std::move(row));
    }
  }
  return table;
}

}  // namespace onset::study
