#include "study/store/codec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "core/printable.hpp"
#include "onset/core/error.hpp"

namespace onset::study {
namespace codec {
namespace {

Json encode_real(double x) {
  if (std::isfinite(x)) return x;
  return Json{{"real", fmt::format("{}", x)}};  // keeps the sign of a NaN, which CSV shows
}

double decode_real(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string word = json.at("real").get<std::string>();
  for (const double size :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const double x : {size, std::copysign(size, -1.0)}) {
      if (word == fmt::format("{}", x)) return x;
    }
  }
  throw std::invalid_argument(in_quotes(word) + " is no number");
}

std::int64_t decode_whole(const Json& json) {
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    throw std::invalid_argument(io::json_line(json) + " does not fit in 64 bits");
  }
  return json.get<std::int64_t>();
}

const Json& require_object(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument("names with values were expected");
  return json;
}

bool is_real(const Json& json) {
  return json.is_number_float() || json.is_object();
}

/// What the values of tables and of parameters have in common.
struct ScalarWriter {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool truth) const { return truth; }
  Json operator()(std::int64_t whole) const { return whole; }
  Json operator()(double real) const { return encode_real(real); }
  Json operator()(const std::string& text) const { return text; }
};

}  // namespace

const Json& list_of(const Json& json) {
  if (!json.is_array()) throw std::invalid_argument("a list was expected");
  return json;
}

Json encode(const Cell& cell) {
  struct Writer : ScalarWriter {
    using ScalarWriter::operator();
    Json operator()(const Estimate& estimate) const {
      return Json::array({encode_real(estimate.value), encode_real(estimate.error)});
    }
  };
  return std::visit(Writer{}, cell);
}

Cell decode_cell(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return decode_whole(json);
  if (is_real(json)) return decode_real(json);
  if (!json.is_array()) return json.get<std::string>();
  if (json.size() != 2) throw std::invalid_argument("an estimate has a value and an error");
  return Estimate{decode_real(json[0]), decode_real(json[1])};
}

Json encode(const Value& value) {
  struct Writer : ScalarWriter {
    using ScalarWriter::operator();
    Json operator()(const std::vector<double>& list) const {
      Json out = Json::array();
      for (const double x : list) out.push_back(encode_real(x));
      return out;
    }
  };
  return std::visit(Writer{}, value);
}

Value decode_value(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return decode_whole(json);
  if (is_real(json)) return decode_real(json);
  if (!json.is_array()) return json.get<std::string>();
  std::vector<double> list;
  for (const Json& item : json) list.push_back(decode_real(item));
  return list;
}

Json encode(const Parameters& parameters) {
  Json out = Json::object();
  for (const auto& [name, value] : parameters.values()) out[name] = encode(value);
  return out;
}

Parameters decode_parameters(const Json& json) {
  Parameters out;
  for (const auto& [name, value] : require_object(json).items()) out.set(name, decode_value(value));
  return out;
}

Json encode(const Table& table) {
  Json columns = Json::array();
  for (const Column& column : table.columns()) {
    columns.push_back({{"name", column.name},
                       {"meaning", column.meaning},
                       {"unit", column.unit},
                       {"estimate", column.estimate}});
  }
  Json rows = Json::array();
  for (const auto& row : table.rows()) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(encode(cell));
    rows.push_back(std::move(cells));
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

Table decode_table(const Json& json) {
  std::vector<Column> columns;
  for (const Json& column : list_of(json.at("columns"))) {
    columns.push_back({column.at("name"), column.at("meaning"), column.at("unit"),
                       column.at("estimate").get<bool>()});
  }
  Table table(std::move(columns));
  for (const Json& cells : list_of(json.at("rows"))) {
    std::vector<Cell> row;
    for (const Json& cell : list_of(cells)) row.push_back(decode_cell(cell));
    table.add_row(std::move(row));
  }
  return table;
}

Json encode(const std::vector<std::pair<std::string, Cell>>& summary) {
  Json out = Json::object();
  for (const auto& [name, cell] : summary) out[name] = encode(cell);
  return out;
}

std::vector<std::pair<std::string, Cell>> decode_summary(const Json& json) {
  std::vector<std::pair<std::string, Cell>> out;
  for (const auto& [name, cell] : require_object(json).items()) {
    out.emplace_back(name, decode_cell(cell));
  }
  return out;
}

PointStatus decode_status(const std::string& word) {
  for (const PointStatus status :
       {PointStatus::ok, PointStatus::unconverged, PointStatus::refused, PointStatus::failed}) {
    if (to_string(status) == word) return status;
  }
  throw std::invalid_argument(in_quotes(word) + " is no status of a point");
}

}  // namespace codec

std::string_view to_string(PointStatus status) {
  switch (status) {
    case PointStatus::ok: return "ok";
    case PointStatus::unconverged: return "unconverged";
    case PointStatus::refused: return "refused";
    case PointStatus::failed: return "failed";
  }
  return "unknown";
}

std::string to_wire(const PointRecord& record) {
  return io::json_line({{"key", record.key},
                        {"command", record.command},
                        {"method", record.method},
                        {"parameters", codec::encode(record.parameters)},
                        {"status", to_string(record.status)},
                        {"reason", record.reason},
                        {"table", codec::encode(record.table)},
                        {"summary", codec::encode(record.summary)},
                        {"notes", record.notes},
                        {"version", record.version},
                        {"simd", record.simd},
                        {"seconds", codec::encode(Value(record.seconds))},
                        {"threads", record.threads},
                        {"host", record.host},
                        {"finished", record.finished}});
}

namespace {

/// A whole number of 0 or more that an int holds.
int decode_count(const codec::Json& json) {
  const auto count = std::get<std::int64_t>(codec::decode_value(json));
  if (count < 0 || count > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(fmt::format("{} is no count", count));
  }
  return static_cast<int>(count);
}

}  // namespace

PointRecord from_wire(std::string_view text) {
  try {
    const codec::Json json = io::parse_json(text);
    PointRecord record;
    record.key = json.at("key");
    record.command = json.at("command");
    record.method = decode_count(json.at("method"));
    record.parameters = codec::decode_parameters(json.at("parameters"));
    record.status = codec::decode_status(json.at("status"));
    record.reason = json.at("reason");
    record.table = codec::decode_table(json.at("table"));
    record.summary = codec::decode_summary(json.at("summary"));
    record.notes = json.at("notes").get<std::vector<std::string>>();
    record.version = json.at("version");
    record.simd = json.at("simd");
    record.seconds = std::get<double>(codec::decode_value(json.at("seconds")));
    record.threads = decode_count(json.at("threads"));
    record.host = json.at("host");
    record.finished = json.at("finished");
    return record;
  } catch (const std::exception& error) {
    throw IoError("point", fmt::format("not a record of a point: {}", io::plain_reason(error)));
  }
}

}  // namespace onset::study
