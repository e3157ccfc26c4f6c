#include <fmt/format.h>

#include <set>

#include "report/html/study_view.hpp"
#include "report/html/text.hpp"

namespace onset::report::html {
namespace {

std::string chips(const StudyView& view) {
  std::string out = "<ul class=\"chips\">";
  out += fmt::format("<li><b>{}</b> point{}</li>", view.study.points.size(),
                     view.study.points.size() == 1 ? "" : "s");
  for (const auto& count : view.counts) {
    out += fmt::format("<li><b class=\"{0}\">{1}</b> <span class=\"{0}\">{0}</span></li>",
                       count.word, count.points);
  }
  return out + "</ul>\n";
}

std::string entry(std::string_view name, const std::string& html) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), html);
}

/// The values of an axis as they come in the points; a long list is cut in the middle.
std::string axis_values(const StudyView& view, std::size_t axis) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const auto& point : view.study.points) {
    std::string text = to_text(point.axis_values.at(axis));
    if (seen.insert(text).second) values.push_back(std::move(text));
  }
  constexpr std::size_t most = 24;
  constexpr std::size_t ends = 6;
  const std::size_t count = values.size();
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (count > most && i == ends) {
      out += " \u2026";
      i = count - ends;
    }
    out += fmt::format("{}<code>{}</code>", i == 0 ? "" : " ", escape(values[i]));
  }
  return count > 1 ? out + fmt::format(" <span class=\"soft\">({} values)</span>", count) : out;
}

}  // namespace

std::string summary_part(const StudyView& view) {
  const bool titled = view.definition && !view.definition->title.empty();
  std::string out =
      fmt::format("<h2>{}</h2>\n", escape(titled ? view.definition->title : view.study.name));
  if (view.definition && !view.definition->description.empty()) {
    out += element("p", view.definition->description) + "\n";
  }
  out += chips(view);
  out += "<dl>\n";
  if (titled) out += entry("Study", element("code", view.study.name));
  out += entry("Command", element("code", "onset " + view.study.command) +
                              (view.verb ? " " + element("span", view.verb->summary, "soft") : ""));
  if (view.definition && !view.definition->fixed.empty()) {
    std::string fixed;
    for (const auto& [name, value] : view.definition->fixed) {
      fixed += element("code", fmt::format("{} = {}", name, to_text(value))) + " ";
    }
    out += entry("Fixed", fixed);
  }
  for (std::size_t a = 0; a < view.study.axes.size(); ++a) {
    out += entry("Axis " + view.study.axes[a], axis_values(view, a));
  }
  return out + "</dl>\n";
}

}  // namespace onset::report::html
