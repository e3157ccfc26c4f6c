#include <fmt/format.h>

#include "onset/version.hpp"
#include "report/html/check_stop.hpp"
#include "report/html/page.hpp"
#include "report/html/study_view.hpp"
#include "report/html/text.hpp"
#include "report/html_report.hpp"
#include "study/store/store_parts.hpp"

namespace onset::report {
namespace {

std::string contents(const std::vector<study::StudyRecord>& studies) {
  if (studies.size() < 2) return {};
  std::string out = "<nav aria-label=\"Studies\"><ul>\n";
  for (const study::StudyRecord& study : studies) {
    out += fmt::format("<li><a href=\"#study-{}\">{}</a></li>\n", html::id_text(study.name),
                       html::escape(study.name));
  }
  return out + "</ul></nav>\n";
}

std::string section(const html::StudyView& view, const html::PageFacts& facts) {
  std::string out =
      fmt::format("<section class=\"study\" id=\"study-{}\">\n", html::id_text(view.study.name));
  const auto add = [&](const std::string& part) {
    html::check_stop(facts.stop);
    out += part;
  };
  add(html::summary_part(view));
  add(html::figures_part(view, facts));
  add(html::interactive_part(view, facts));
  add(html::problems_part(view, facts));
  add(html::results_part(view, facts));
  add(html::points_part(view, facts));
  add(html::manifest_part(view));
  add(html::reproduce_part(view, facts));
  return out + "</section>\n";
}

}  // namespace

std::string html_report(const study::Store& store, std::span<const Verb> verbs,
                        const HtmlOptions& options) {
  html::check_stop(options.stop);
  const study::StoreParts moment(store);  // all passes see the same points
  const std::vector<study::StudyRecord> studies =
      options.study.empty() ? store.studies()
                            : std::vector<study::StudyRecord>{store.study(options.study)};
  const std::string file = store.path().filename().string();
  const html::PageFacts facts{file, options.max_rows, options.stop};
  std::string out = fmt::format(
      "<header class=\"top\">\n<h1>{}</h1>\n<p class=\"soft\">Onset report of {}</p>\n{}</header>\n"
      "<main>\n",
      html::escape(store.path().stem().string()), html::element("code", file), contents(studies));
  if (studies.empty())
    out += "<section class=\"study\"><p>The store has no studies.</p></section>\n";
  for (const study::StudyRecord& study : studies) {
    html::check_stop(options.stop);
    out += section(html::view_of(study, store, verbs, options.max_rows, options.stop), facts);
  }
  out += fmt::format(
      "</main>\n<footer><p>Made by Onset {}. This page needs no network.</p></footer>\n",
      html::escape(version()));
  std::string page = html::page(store.path().stem().string() + " \u2013 Onset report", out);
  html::check_stop(options.stop);
  return page;
}

}  // namespace onset::report
