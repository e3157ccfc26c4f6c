#include "io/json_text.hpp"

#include <set>
#include <vector>

namespace onset::io {

Json parse_json(std::string_view text) {
  return Json::parse(text);
}

std::optional<Json> json_or_nothing(std::string_view text) {
  try {
    return parse_json(text);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string repeated_name(std::string_view text) {
  std::vector<std::set<std::string>> names;  // of every object that is open
  std::string repeated;
  const auto look = [&](int, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key &&
        !names.back().insert(value.get<std::string>()).second) {
      repeated = value.get<std::string>();
    }
    return true;
  };
  [[maybe_unused]] const Json all = Json::parse(text, look);
  return repeated;
}

std::string plain_reason(const std::exception& error) {
  std::string_view text = error.what();
  if (text.starts_with("[json.exception.")) text.remove_prefix(text.find(' ') + 1);
  return std::string(text);
}

std::string json_line(const Json& value, JsonLetters letters) {
  constexpr int one_line = -1;
  return value.dump(one_line, ' ', letters == JsonLetters::ascii, Json::error_handler_t::replace);
}

std::string json_lines(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace onset::io
