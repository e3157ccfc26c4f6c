#include "report/html/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onset/io/format.hpp"
#include "report/figure/pick.hpp"
#include "report/html/check_stop.hpp"
#include "report/html/text.hpp"

namespace onset::report::html {

TableCell text_cell(const std::string& text) {
  return {escape(text), std::nullopt};
}

TableCell words_cell(const std::string& text) {
  return {text.empty() ? text : element("span", text, "words"), std::nullopt};
}

TableCell line_cell(const std::string& text) {
  return {text.empty() ? text : element("span", text, "line"), std::nullopt};
}

TableCell code_cell(const std::string& text) {
  return {element("code", text), std::nullopt};
}

TableCell number_cell(double value) {
  return {fmt::format("{:.6g}", value), value};
}

TableCell cell_of(const Cell& cell) {
  if (const auto* estimate = std::get_if<Estimate>(&cell)) {
    return {escape(io::concise(*estimate)), estimate->value};
  }
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    return {fmt::format("{}", *whole), static_cast<double>(*whole)};
  }
  if (const auto* real = std::get_if<double>(&cell)) return {label_text(cell), *real};
  return text_cell(label_text(cell));
}

TableCell cell_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return cell_of(Cell(*whole));
  if (const auto* real = std::get_if<double>(&value)) return cell_of(Cell(*real));
  return text_cell(to_text(value));
}

SortableTable sortable(const Table& table, std::size_t max_rows, const std::stop_token& stop) {
  SortableTable out;
  for (const Column& column : table.columns()) {
    const std::string unit = column.unit.empty() ? "" : fmt::format(" [{}]", column.unit);
    out.heads.push_back({column.name, column.meaning + unit});
  }
  const std::size_t shown = std::min(max_rows, table.rows().size());
  for (std::size_t r = 0; r < shown; ++r) {
    check_stop(stop);
    std::vector<TableCell> row;
    for (const Cell& cell : table.rows()[r]) row.push_back(cell_of(cell));
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::string to_html(const SortableTable& table, const std::stop_token& stop) {
  // A box that scrolls must be reachable by keyboard, hence tabindex.
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
      "<table class=\"sortable\"><caption class=\"hidden\">{0}</caption>\n<thead><tr>",
      escape(table.label));
  for (const TableHead& head : table.heads) {
    out += fmt::format(
        "<th scope=\"col\" aria-sort=\"none\"><button type=\"button\" "
        "title=\"{}\">{}</button></th>",
        escape(head.meaning), escape(head.name));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<TableCell>& row : table.rows) {
    check_stop(stop);
    out += "<tr>";
    for (const TableCell& cell : row) {
      // A number that is not finite has no place in an order: it is sorted as if it were missing.
      const bool number = cell.number && std::isfinite(*cell.number);
      out += number ? fmt::format("<td class=\"n\" data-v=\"{}\">{}</td>", *cell.number, cell.html)
                    : fmt::format("<td>{}</td>", cell.html);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace onset::report::html
