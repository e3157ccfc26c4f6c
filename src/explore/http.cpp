#include "explore/http.hpp"

#include "core/printable.hpp"
#include "explore/json.hpp"

namespace onset::explore {
namespace {

/// The longest sentence of a refusal. Longer ones repeat some very long text.
constexpr std::size_t longest_refusal = 2000;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string> Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

Address read_address(std::string_view target) {
  Address address;
  const std::size_t mark = target.find('?');
  std::string_view path = target.substr(0, mark);
  if (path.starts_with('/')) path.remove_prefix(1);
  address.path = split(path, '/');
  if (mark == std::string_view::npos) return address;
  for (const std::string& pair : split(target.substr(mark + 1), '&')) {
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos) {
      address.query[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  }
  return address;
}

Response refusal(int status, std::string_view message, std::string_view field) {
  Json object = {{"error", printable(message, longest_refusal)}};
  if (!field.empty()) object["field"] = printable(field);
  return json_response(object, status);
}

Response json_response(const Json& value, int status) {
  return {status, "application/json", io::json_line(value), {}};
}

}  // namespace onset::explore
