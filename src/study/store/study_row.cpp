#include "study/store/study_row.hpp"

#include <fmt/format.h>

#include <exception>
#include <stdexcept>

#include "core/printable.hpp"
#include "study/store/checksum.hpp"
#include "study/store/codec.hpp"

namespace onset::study {

using codec::Json;

namespace {

std::vector<Value> read_axis_values(const std::string& text, std::size_t axes) {
  std::vector<Value> values;
  const Json list = io::parse_json(text);
  for (const Json& value : codec::list_of(list)) values.push_back(codec::decode_value(value));
  if (values.size() != axes) {
    throw std::invalid_argument(fmt::format("{} axis values for {} axes", values.size(), axes));
  }
  return values;
}

}  // namespace

StudyRow to_row(const StudyRecord& study) {
  StudyRow row{study.name, study.command, study.source, io::json_line(study.axes), {}};
  for (const StudyRecord::Entry& entry : study.points) {
    Json values = Json::array();
    for (const Value& value : entry.axis_values) values.push_back(codec::encode(value));
    row.points.push_back({entry.key, io::json_line(values)});
  }
  return row;
}

StudyRecord from_row(const StudyRow& row) {
  StudyRecord study{row.name, row.command, row.source, {}, {}};
  study.axes = codec::list_of(io::parse_json(row.axes)).get<std::vector<std::string>>();
  for (const StudyRow::Entry& entry : row.points) {
    try {
      study.points.push_back({entry.key, read_axis_values(entry.axis_values, study.axes.size())});
    } catch (const std::exception& error) {
      throw std::invalid_argument(
          fmt::format("its point {} has {}", in_quotes(entry.key), io::plain_reason(error)));
    }
  }
  return study;
}

std::string checksum(const StudyRow& row) {
  Checksum sum;
  sum.add(row.name);
  sum.add(row.command);
  sum.add(row.source);
  sum.add(row.axes);
  for (const StudyRow::Entry& entry : row.points) {
    sum.add(entry.key);
    sum.add(entry.axis_values);
  }
  return sum.text();
}

}  // namespace onset::study
