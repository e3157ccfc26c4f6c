#include "io/json_record.hpp"
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

}  // namespace

std::string interactive_part(const StudyView& view, const PageFacts& facts) {
  if (view.table.rows().empty()) return {};
  const Json data = {{"name", view.study.name},
                     {"primary", view.verb ? view.verb->primary : ""},
                     {"axes", axis_columns(view)},
                     {"columns", io::detail::columns_json(view.table.columns())},
                     {"rows", io::detail::rows_json(view.table, facts.max_rows)}};
  return "<details class=\"interactive\"><summary>A figure to turn and zoom</summary><div></div>\n"
         "<script type=\"application/json\">" +
         script_text(data) + "</script></details>\n";
}

}  // namespace onset::report::html
