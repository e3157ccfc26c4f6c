#include <fmt/format.h>

#include "onset/version.hpp"
#include "report/html/check_stop.hpp"
#include "report/html/study_view.hpp"
#include "report/html/table.hpp"
#include "report/html/text.hpp"
#include "report/point_text.hpp"

namespace onset::report::html {
namespace {

/// What is said above a table that is not shown whole.
std::string cut_note(std::size_t shown, std::size_t total, const StudyView& view,
                     const PageFacts& facts) {
  if (shown >= total) return {};
  return fmt::format(
      "<p class=\"note\">The first {} of {} rows. All of them: <code>{}</code></p>\n", shown, total,
      escape(export_command(view.study.name, facts.store_file)));
}

TableCell status_cell(std::string_view word) {
  return {fmt::format("<span class=\"status {0}\">{0}</span>", word), std::nullopt};
}

std::vector<TableHead> axis_heads(const StudyView& view) {
  std::vector<TableHead> heads;
  for (const std::string& axis : view.study.axes) heads.push_back({axis, "axis of the study"});
  return heads;
}

std::vector<TableCell> axis_cells(const study::StudyRecord::Entry& point) {
  std::vector<TableCell> cells;
  for (const Value& value : point.axis_values) cells.push_back(cell_of(value));
  return cells;
}

TableCell summary_cell(const study::PointRecord& record, const std::string& name) {
  for (const auto& [own, cell] : record.summary) {
    if (own == name) return cell_of(cell);
  }
  return {};
}

}  // namespace

std::string command_of(const StudyView& view, const study::PointRecord& record) {
  // Defaults may be left out only where they are known to be those that were used.
  const bool known = view.verb && record.version == version() && record.method == view.verb->method;
  return command_line(record.command, record.parameters, known ? view.verb : nullptr);
}

std::string results_part(const StudyView& view, const PageFacts& facts) {
  if (view.all_rows == 0) return "<h3>Results</h3>\n<p>No point has rows yet.</p>\n";
  SortableTable table = sortable(view.table, facts.max_rows, facts.stop);
  table.label = "Results of " + view.study.name;
  return "<h3>Results</h3>\n<p class=\"note\">0.1855(2) is 0.1855 with a standard error of 0.0002. "
         "Click on a head to sort.</p>\n" +
         cut_note(table.rows.size(), view.all_rows, view, facts) + to_html(table, facts.stop);
}

std::string problems_part(const StudyView& view, const PageFacts& facts) {
  SortableTable table;
  table.label = "Points of " + view.study.name + " that need a look";
  table.heads = axis_heads(view);
  table.heads.push_back({"status", "how the point ended"});
  table.heads.push_back({"reason", "what it says of itself"});
  table.heads.push_back({"command", "computes this point alone"});
  if (view.all_problems == 0) return {};
  for (const auto& [place, record] : view.problems) {
    check_stop(facts.stop);
    std::vector<TableCell> row = axis_cells(view.study.points[place]);
    row.push_back(status_cell(to_string(record->status)));
    row.push_back(words_cell(record->reason));
    row.push_back(code_cell(command_of(view, *record)));
    table.rows.push_back(std::move(row));
  }
  return "<h3>Points that need a look</h3>\n" +
         cut_note(table.rows.size(), view.all_problems, view, facts) + to_html(table, facts.stop);
}

std::string points_part(const StudyView& view, const PageFacts& facts) {
  const std::vector<std::string>& summaries = view.summary_names;
  SortableTable table;
  table.label = "Points of " + view.study.name;
  table.heads = axis_heads(view);
  table.heads.push_back({"status", "how the point ended"});
  for (const std::string& name : summaries) table.heads.push_back({name, "of the whole point"});
  for (const TableHead& head :
       std::initializer_list<TableHead>{{"rows", "that the point has"},
                                        {"seconds", "wall time"},
                                        {"threads", ""},
                                        {"host", ""},
                                        {"finished", "UTC"},
                                        {"command", "computes this point alone"},
                                        {"remarks", "of the verb"}}) {
    table.heads.push_back(head);
  }
  for (const auto& [place, record] : view.points) {
    check_stop(facts.stop);
    std::vector<TableCell> row = axis_cells(view.study.points[place]);
    row.push_back(status_cell(record ? to_string(record->status) : "missing"));
    if (record) {
      for (const std::string& name : summaries) row.push_back(summary_cell(*record, name));
      row.push_back(number_cell(static_cast<double>(record->table.rows().size())));
      row.push_back({fmt::format("{:.3g}", record->seconds), record->seconds});
      row.push_back(number_cell(record->threads));
      row.push_back(text_cell(record->host));
      row.push_back(text_cell(record->finished));
      row.push_back(code_cell(command_of(view, *record)));
      row.push_back(line_cell(fmt::format("{}", fmt::join(record->notes, " "))));
    }
    row.resize(table.heads.size());
    table.rows.push_back(std::move(row));
  }
  return fmt::format(
      "<h3>Points</h3>\n<details><summary>All points with their times and commands "
      "({})</summary>\n{}{}</details>\n",
      view.study.points.size(), cut_note(view.points.size(), view.study.points.size(), view, facts),
      to_html(table, facts.stop));
}

}  // namespace onset::report::html
