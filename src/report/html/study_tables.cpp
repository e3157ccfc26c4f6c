#include <fmt/format.h>

#include <algorithm>

#include "onset/version.hpp"
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

/// Names of the scalars that verbs gave beside their rows.
std::vector<std::string> summary_names(const StudyView& view) {
  std::vector<std::string> names;
  for (const auto& record : view.records) {
    if (!record) continue;
    for (const auto& [name, cell] : record->summary) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
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
  const std::size_t total = view.table.rows().size();
  if (total == 0) return "<h3>Results</h3>\n<p>No point has rows yet.</p>\n";
  SortableTable table = sortable(view.table, facts.max_rows);
  table.label = "Results of " + view.study.name;
  return "<h3>Results</h3>\n<p class=\"note\">0.1855(2) is 0.1855 with a standard error of 0.0002. "
         "Click on a head to sort.</p>\n" +
         cut_note(table.rows.size(), total, view, facts) + to_html(table);
}

std::string problems_part(const StudyView& view, const PageFacts& facts) {
  SortableTable table;
  table.label = "Points of " + view.study.name + " that need a look";
  table.heads = axis_heads(view);
  table.heads.push_back({"status", "how the point ended"});
  table.heads.push_back({"reason", "what it says of itself"});
  table.heads.push_back({"command", "computes this point alone"});
  std::size_t total = 0;
  for (std::size_t i = 0; i < view.records.size(); ++i) {
    const auto& record = view.records[i];
    if (!record || record->status == study::PointStatus::ok) continue;
    if (++total > facts.max_rows) continue;
    std::vector<TableCell> row = axis_cells(view.study.points[i]);
    row.push_back(status_cell(to_string(record->status)));
    row.push_back(words_cell(record->reason));
    row.push_back(code_cell(command_of(view, *record)));
    table.rows.push_back(std::move(row));
  }
  if (total == 0) return {};
  return "<h3>Points that need a look</h3>\n" + cut_note(table.rows.size(), total, view, facts) +
         to_html(table);
}

std::string points_part(const StudyView& view, const PageFacts& facts) {
  const std::vector<std::string> summaries = summary_names(view);
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
  const std::size_t shown = std::min(facts.max_rows, view.records.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& record = view.records[i];
    std::vector<TableCell> row = axis_cells(view.study.points[i]);
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
      view.records.size(), cut_note(shown, view.records.size(), view, facts), to_html(table));
}

}  // namespace onset::report::html
