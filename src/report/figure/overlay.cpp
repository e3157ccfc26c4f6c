#include "report/figure/overlay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "core/suggestion.hpp"
#include "io/read_file.hpp"
#include "onset/core/error.hpp"

namespace onset::report {
namespace {

std::vector<std::string> split_line(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> fields;
  std::size_t start = 0;
  for (std::size_t comma = line.find(','); comma != std::string::npos;
       comma = line.find(',', start)) {
    fields.push_back(line.substr(start, comma - start));
    start = comma + 1;
  }
  fields.push_back(line.substr(start));
  return fields;
}

std::size_t find_column(const std::filesystem::path& file, const std::vector<std::string>& header,
                        const std::string& name) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw IoError(file.string(),
                  fmt::format("there is no column '{}'{}", name, suggestion(name, header)));
  }
  return static_cast<std::size_t>(found - header.begin());
}

double field_number(const std::vector<std::string>& fields, std::size_t index) {
  if (index >= fields.size()) return std::nan("");
  const std::string& field = fields[index];
  double value = 0.0;
  const char* end = field.data() + field.size();
  const auto [rest, error] = std::from_chars(field.data(), end, value);
  return error == std::errc{} && rest == end ? value : std::nan("");
}

}  // namespace

std::vector<Point> read_overlay_points(const std::filesystem::path& file, const Overlay& overlay) {
  std::istringstream in(io::read_file(file));
  std::string line;
  if (!in || !std::getline(in, line)) {
    throw IoError(file.string(),
                  "is empty; allowed: lines of values parted by commas, names first");
  }
  const std::vector<std::string> header = split_line(line);
  const std::size_t x = find_column(file, header, overlay.x);
  const std::size_t y = find_column(file, header, overlay.y);
  const bool has_error = !overlay.error.empty();
  const std::size_t error = has_error ? find_column(file, header, overlay.error) : 0;
  std::vector<Point> points;
  while (std::getline(in, line)) {
    const std::vector<std::string> fields = split_line(line);
    const Point point{overlay.x_times * field_number(fields, x), field_number(fields, y),
                      has_error ? field_number(fields, error) : 0.0};
    if (std::isfinite(point.x) && std::isfinite(point.y)) points.push_back(point);
  }
  return points;
}

}  // namespace onset::report
