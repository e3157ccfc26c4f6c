#include "study/store/point_row.hpp"

#include <limits>
#include <stdexcept>

#include "study/store/checksum.hpp"
#include "study/store/codec.hpp"

namespace onset::study {

using codec::Json;

namespace {

int positive_count(std::int64_t count, const char* name) {
  if (count < 0 || count > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(std::string(name) + " is out of range");
  }
  return static_cast<int>(count);
}

}  // namespace

PointRow to_row(const PointRecord& record) {
  PointRow row;
  row.key = record.key;
  row.command = record.command;
  row.method = record.method;
  row.parameters = io::json_line(codec::encode(record.parameters));
  row.status = to_string(record.status);
  row.reason = record.reason;
  row.result = io::json_line(codec::encode(record.table));
  row.summary = io::json_line(codec::encode(record.summary));
  row.notes = io::json_line(record.notes);
  row.version = record.version;
  row.simd = record.simd;
  row.seconds = record.seconds;
  row.threads = record.threads;
  row.host = record.host;
  row.finished = record.finished;
  return row;
}

PointRecord from_row(const PointRow& row) {
  PointRecord record;
  record.key = row.key;
  record.command = row.command;
  record.method = positive_count(row.method, "method");
  record.parameters = codec::decode_parameters(io::parse_json(row.parameters));
  record.status = codec::decode_status(row.status);
  record.reason = row.reason;
  record.table = codec::decode_table(io::parse_json(row.result));
  record.summary = codec::decode_summary(io::parse_json(row.summary));
  record.notes = codec::list_of(io::parse_json(row.notes)).get<std::vector<std::string>>();
  record.version = row.version;
  record.simd = row.simd;
  record.seconds = row.seconds;
  record.threads = positive_count(row.threads, "threads");
  record.host = row.host;
  record.finished = row.finished;
  return record;
}

PointRecord rows_of(const PointRow& row) {
  PointRecord record;
  record.key = row.key;
  record.status = codec::decode_status(row.status);
  record.table = codec::decode_table(io::parse_json(row.result));
  return record;
}

std::string checksum(const PointRow& row) {
  Checksum sum;
  for_each_column(row, [&](const auto& field) { sum.add(field); });
  return sum.text();
}

}  // namespace onset::study
