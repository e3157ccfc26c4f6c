#include <algorithm>

#include "io/json_record.hpp"
#include "report/html/check_stop.hpp"
#include "report/html/study_view.hpp"

namespace onset::report::html {
namespace {

using io::Json;

/// JSON inside a script element: without an angle bracket no text can end the element.
std::string script_text(const Json& value) {
  std::string out;
  for (const char c : io::json_line(value, io::JsonLetters::ascii)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

/// The first rows of the table of results.
Json first_rows(const Table& table, const PageFacts& facts) {
  Json rows = Json::array();
  const std::size_t count = std::min(facts.max_rows, table.rows().size());
  for (std::size_t r = 0; r < count; ++r) {
    check_stop(facts.stop);
    rows.push_back(io::detail::row_json(table.columns(), table.rows()[r]));
  }
  return rows;
}

}  // namespace

std::string interactive_part(const StudyView& view, const PageFacts& facts) {
  if (view.table.rows().empty()) return {};
  const Json data = {{"name", view.study.name},
                     {"primary", view.verb ? view.verb->primary : ""},
                     {"axes", axis_columns(view)},
                     {"columns", io::detail::columns_json(view.table.columns())},
                     {"rows", first_rows(view.table, facts)}};
  return "<details class=\"interactive\"><summary>A figure to turn and zoom</summary><div></div>\n"
         "<script type=\"application/json\">" +
         script_text(data) + "</script></details>\n";
}

}  // namespace onset::report::html
