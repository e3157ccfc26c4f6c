#include "report/figure/pick.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "report/gnuplot/plot_text.hpp"

namespace onset::report {
namespace {

/// The colours of the curves of a group, in turn. Black and grey come last, since they are for what
/// curves are compared with.
constexpr std::array cycle{Colour::blue,   Colour::vermillion, Colour::green, Colour::purple,
                           Colour::orange, Colour::sky,        Colour::black, Colour::grey};
constexpr std::array marks{Mark::circle, Mark::square, Mark::triangle, Mark::diamond};

/// A label such as "skip 0.5, weak": numbers need the name of their column, words speak for
/// themselves.
std::string default_label(const Series& series, const std::vector<std::string>& values) {
  std::string label;
  for (std::size_t g = 0; g < series.group.size(); ++g) {
    if (!label.empty()) label += ", ";
    const bool word =
        !values[g].empty() && std::isalpha(static_cast<unsigned char>(values[g][0])) != 0;
    if (!word) label += literal_text(series.group[g]) + " ";
    label += literal_text(values[g]);
  }
  return label;
}

/// The label of one curve of a group: `{column}` replaced by its value. Other braces are markup.
std::string group_label(const Series& series, const std::vector<std::string>& values) {
  if (series.look.label.empty()) return default_label(series, values);
  std::string label = series.look.label;
  for (std::size_t g = 0; g < series.group.size(); ++g) {
    const std::string hole = "{" + series.group[g] + "}";
    const std::string value = literal_text(values[g]);
    for (std::size_t at = label.find(hole); at != std::string::npos;
         at = label.find(hole, at + value.size())) {
      label.replace(at, hole.size(), value);
    }
  }
  return label;
}

Look group_look(const Series& series, std::size_t index, const std::vector<std::string>& values) {
  Look look = series.look;
  if (series.group.empty()) return look;
  look.label = group_label(series, values);
  if (series.alike) {
    if (index > 0) look.label.clear();
    return look;
  }
  look.colour = curve_colour(index);
  look.mark = curve_mark(index);
  // When the colours come round again, dashes tell the lines apart.
  const bool again = (index / cycle.size()) % 2 == 1;
  if (again && look.style == LineStyle::line) look.style = LineStyle::dashed;
  return look;
}

bool matches(const Cell& cell, const Value& wanted) {
  if (const auto* text = std::get_if<std::string>(&wanted)) {
    const auto* have = std::get_if<std::string>(&cell);
    return have && *have == *text;
  }
  if (const auto* flag = std::get_if<bool>(&wanted)) {
    const auto* have = std::get_if<bool>(&cell);
    return have && *have == *flag;
  }
  double number = std::nan("");
  if (const auto* whole = std::get_if<std::int64_t>(&wanted)) number = static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&wanted)) number = *real;
  if (const auto* have = std::get_if<std::int64_t>(&cell)) {
    return static_cast<double>(*have) == number;
  }
  const auto* have = std::get_if<double>(&cell);
  return have && *have == number;
}

}  // namespace

Colour curve_colour(std::size_t index) {
  return cycle.at(index % cycle.size());
}

Mark curve_mark(std::size_t index) {
  return marks.at(index % marks.size());
}

bool keeps(const Table& table, std::size_t row, const Filter& filter) {
  return std::all_of(filter.begin(), filter.end(), [&](const auto& entry) {
    return matches(table.at(row, entry.first), entry.second);
  });
}

std::string label_text(const Cell& cell) {
  struct Writer {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return fmt::format("{:.6g}", real); }
    std::string operator()(const Estimate& estimate) const { return (*this)(estimate.value); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Writer{}, cell);
}

namespace {

/// A number to draw at; an axis over words that read as numbers ("0.2") has them as well.
double coordinate(const Table& table, std::size_t row, const std::string& name) {
  const auto* text = std::get_if<std::string>(&table.at(row, name));
  if (text == nullptr) return table.number(row, name);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size()) return value;
  return table.number(row, name);  // throws and says that it is not a number
}

}  // namespace

std::vector<Curve> pick_curves(const Series& series, const Table& table) {
  std::vector<Curve> curves;
  std::map<std::vector<std::string>, std::size_t> groups;  // maps to the index of their curve
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    if (!keeps(table, row, series.filter)) continue;
    std::vector<std::string> values;
    for (const std::string& name : series.group) values.push_back(label_text(table.at(row, name)));
    const auto [found, is_new] = groups.try_emplace(values, curves.size());
    if (is_new) curves.push_back({{}, group_look(series, curves.size(), values), false});
    const double scale = series.x_over.empty() ? 1.0 : coordinate(table, row, series.x_over);
    const Point point{coordinate(table, row, series.x) * series.x_times / scale,
                      table.number(row, series.y), table.error(row, series.y)};
    // A threshold that does not exist has no value and is not drawn.
    if (std::isfinite(point.x) && std::isfinite(point.y))
      curves[found->second].points.push_back(point);
  }
  return curves;
}

std::vector<GuideLine> pick_guides(const Guide& guide, const Table& table) {
  std::vector<GuideLine> out;
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    if (!keeps(table, row, guide.filter)) continue;
    const double x = table.number(row, guide.x);
    if (std::isfinite(x)) out.push_back({false, x, guide.label});
  }
  return out;
}

}  // namespace onset::report
