#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/field_names.hpp"
#include "io/json_record.hpp"
#include "onset/version.hpp"

namespace onset::io {
namespace detail {
namespace {

/// The version of the command's JSON contract; it is raised when readers would have to change.
constexpr int schema = 1;

Json number(double x) {
  return std::isfinite(x) ? Json(x) : Json(nullptr);
}

/// What the values of tables and of parameters have in common.
struct ScalarWriter {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool truth) const { return truth; }
  Json operator()(std::int64_t whole) const { return whole; }
  Json operator()(double real) const { return number(real); }
  Json operator()(const std::string& text) const { return text; }
};

Json cell_value(const Cell& cell) {
  struct Writer : ScalarWriter {
    using ScalarWriter::operator();
    Json operator()(const Estimate& estimate) const { return number(estimate.value); }
  };
  return std::visit(Writer{}, cell);
}

Json cell_error(const Cell& cell) {
  if (const auto* estimate = std::get_if<Estimate>(&cell)) return number(estimate->error);
  if (std::holds_alternative<std::monostate>(cell)) return nullptr;
  return 0.0;
}

void append_cell(Json& object, const std::string& name, const Cell& cell, bool estimate) {
  object[name] = cell_value(cell);
  if (estimate) object[name + "_err"] = cell_error(cell);
}

}  // namespace

Json columns_json(const std::vector<Column>& columns) {
  Json out = Json::array();
  for (const Column& column : columns) {
    out.push_back({{"name", column.name},
                   {"meaning", with_keys(column.meaning)},
                   {"unit", column.unit},
                   {"estimate", column.estimate}});
  }
  return out;
}

Json row_json(const std::vector<Column>& columns, const std::vector<Cell>& row) {
  Json object = Json::object();
  for (std::size_t c = 0; c < row.size(); ++c) {
    append_cell(object, columns[c].name, row[c], columns[c].estimate);
  }
  return object;
}

Json rows_json(const Table& table, std::size_t most) {
  Json out = Json::array();
  const std::size_t count = std::min(most, table.rows().size());
  for (const auto& row : std::span(table.rows()).first(count)) {
    out.push_back(row_json(table.columns(), row));
  }
  return out;
}

Json record_json(const RunRecord& record) {
  Json object = record_head(record);
  object["rows"] = rows_json(record.result.table);
  append_record_tail(object, record);
  return object;
}

Json value_json(const Value& value) {
  struct Writer : ScalarWriter {
    using ScalarWriter::operator();
    Json operator()(const std::vector<double>& list) const {
      Json out = Json::array();
      for (const double x : list) out.push_back(number(x));
      return out;
    }
  };
  return std::visit(Writer{}, value);
}

Json record_head(const RunRecord& record) {
  Json head = Json::object();
  head["schema"] = schema;
  head["onset"] = std::string(version());
  head["command"] = record.command;
  Json parameters = Json::object();
  for (const auto& [name, value] : record.parameters.values()) parameters[name] = value_json(value);
  head["parameters"] = std::move(parameters);
  if (record.parameters.has("seed")) head["seed"] = record.parameters.integer("seed");
  return head;
}

void append_record_tail(Json& object, const RunRecord& record) {
  const Result& result = record.result;
  Json summary = Json::object();
  for (const auto& [name, cell] : result.summary) {
    append_cell(summary, name, cell, std::holds_alternative<Estimate>(cell));
  }
  object["summary"] = std::move(summary);
  object["status"] = std::string(to_string(result.status));
  if (result.status != ResultStatus::ok) object["reason"] = result.reason;
  if (!result.notes.empty()) object["notes"] = result.notes;
  object["seconds"] = number(record.seconds);
}

std::string dump(const Json& object) {
  return json_lines(object, 2);
}

}  // namespace detail

std::string to_json(const RunRecord& record) {
  return detail::dump(detail::record_json(record));
}

namespace {

/// The text of an object with `indent` before every line but the first.
std::string indented(const std::string& text, std::string_view indent) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

std::string pretty(const Json& object) {
  std::string text = json_lines(object, 2);
  text.pop_back();  // the line feed behind it
  return text;
}

}  // namespace

std::string json_before_rows(const RunRecord& record) {
  std::string head = pretty(detail::record_head(record));
  head.resize(head.size() - 2);  // without the bracket that ends it, and its line
  return head + ",\n  \"rows\": [";
}

std::string json_row(const std::vector<Column>& columns, const std::vector<Cell>& row, bool first) {
  return fmt::format("{}\n    {}", first ? "" : ",",
                     indented(pretty(detail::row_json(columns, row)), "    "));
}

std::string json_after_rows(const RunRecord& record, bool any_rows) {
  Json tail = Json::object();
  detail::append_record_tail(tail, record);
  return fmt::format("{}],{}\n", any_rows ? "\n  " : "", pretty(tail).substr(1));
}

std::string to_json_lines(const Table& table) {
  std::string out;
  for (const Json& row : detail::rows_json(table)) {
    out += json_line(row) + '\n';
  }
  return out;
}

}  // namespace onset::io
