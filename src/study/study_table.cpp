#include <algorithm>

#include "onset/core/error.hpp"
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

std::optional<std::size_t> find_column(const Table& table, const std::string& name) {
  for (std::size_t c = 0; c < table.columns().size(); ++c) {
    if (table.columns()[c].name == name) return c;
  }
  return std::nullopt;
}

/// Whether every row of a point repeats the value of an axis in a column of its name.
bool repeats(const Table& table, const std::string& axis, const Value& axis_value) {
  const auto column = find_column(table, axis);
  if (!column) return false;
  const Cell value = cell_of(axis_value);
  return std::all_of(table.rows().begin(), table.rows().end(),
                     [&](const auto& row) { return same(row[*column], value); });
}

const std::vector<Column> timing_columns = {{"seconds", "wall time of the point", "s", false},
                                            {"threads", "threads of the point", "", false},
                                            {"host", "machine that computed it", "", false},
                                            {"finished", "when, UTC", "", false}};

}  // namespace

StudyRows::StudyRows(const StudyRecord& study, const Store& store, bool timing,
                     const std::stop_token& stop)
    : study_(study), store_(store), timing_(timing) {
  std::vector<bool> repeated(study.axes.size(), true);
  store.each(
      study,
      [&](std::size_t place, const PointRecord* record) {
        if (stop.stop_requested()) throw Interrupted();
        missing_ += record == nullptr ? 1 : 0;
        if (record == nullptr) return;
        not_ok_ += record->status == PointStatus::ok ? 0 : 1;
        if (!record->table.rows().empty()) {
          see_columns(study.points[place], record->table, repeated);
        }
      },
      Store::Look::rows);
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    const std::string& axis = study.axes[i];
    const bool taken = std::any_of(results_.begin(), results_.end(),
                                   [&](const Column& column) { return column.name == axis; });
    if (taken && repeated[i]) continue;
    axes_.push_back({i, taken ? "axis_" + axis : axis});
    columns_.push_back({axes_.back().column, "axis value", "", false});
  }
  columns_.insert(columns_.end(), results_.begin(), results_.end());
  if (timing) columns_.insert(columns_.end(), timing_columns.begin(), timing_columns.end());
}

void StudyRows::see_columns(const StudyRecord::Entry& entry, const Table& table,
                            std::vector<bool>& repeated) {
  count_ += table.rows().size();
  for (const Column& column : table.columns()) {
    const auto known = std::find_if(results_.begin(), results_.end(),
                                    [&](const Column& other) { return other.name == column.name; });
    if (known == results_.end()) {
      results_.push_back(column);
    } else {
      known->estimate = known->estimate || column.estimate;
    }
  }
  for (std::size_t i = 0; i < repeated.size(); ++i) {
    repeated[i] = repeated[i] && repeats(table, study_.axes[i], entry.axis_values[i]);
  }
}

std::vector<std::vector<Cell>> StudyRows::rows_of(const StudyRecord::Entry& entry,
                                                  const PointRecord& record) const {
  std::vector<std::optional<std::size_t>> sources;
  for (const Column& column : results_) sources.push_back(find_column(record.table, column.name));
  std::vector<std::vector<Cell>> out;
  for (const auto& given : record.table.rows()) {
    std::vector<Cell> row;
    row.reserve(columns_.size());
    for (const ShownAxis& axis : axes_) row.push_back(cell_of(entry.axis_values[axis.index]));
    for (const auto& source : sources) row.push_back(source ? given[*source] : Cell{});
    if (timing_) {
      row.insert(row.end(), {record.seconds, static_cast<std::int64_t>(record.threads), record.host,
                             record.finished});
    }
    out.push_back(std::move(row));
  }
  return out;
}

void StudyRows::each_point(const SeeRows& see, Store::Look look) const {
  store_.each(
      study_,
      [&](std::size_t place, const PointRecord* record) {
        std::vector<std::vector<Cell>> rows;
        if (record != nullptr) rows = rows_of(study_.points[place], *record);
        see(place, record, rows);
      },
      look);
}

void StudyRows::each(const std::function<void(const std::vector<Cell>&)>& see,
                     Store::Look look) const {
  each_point(
      [&see](std::size_t, const PointRecord*, const std::vector<std::vector<Cell>>& rows) {
        for (const std::vector<Cell>& row : rows) see(row);
      },
      look);
}

Table study_table(const StudyRecord& study, const Store& store, bool timing) {
  const StudyRows rows(study, store, timing);
  Table table(rows.columns());
  rows.each([&table](const std::vector<Cell>& row) { table.add_row(row); });
  return table;
}

}  // namespace onset::study
