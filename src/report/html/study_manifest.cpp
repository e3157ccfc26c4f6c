#include <fmt/format.h>

#include <set>

#include "report/html/study_view.hpp"
#include "report/html/text.hpp"
#include "report/point_text.hpp"

namespace onset::report::html {
namespace {

std::string text_entry(std::string_view name, const std::string& text) {
  return text.empty() ? std::string()
                      : fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(text));
}

template <class T>
std::string joined(const std::set<T>& values) {
  constexpr std::size_t most = 20;
  std::string out;
  std::size_t count = 0;
  for (const T& value : values) {
    if (++count > most) return out + fmt::format(", \u2026 ({} in all)", values.size());
    out += fmt::format("{}{}", out.empty() ? "" : ", ", value);
  }
  return out;
}

}  // namespace

std::string manifest_part(const StudyView& view) {
  const Circumstances& x = view.circumstances;
  if (x.last_finished.empty()) return {};
  return "<h3>Manifest</h3>\n<dl>\n" + text_entry("Onset", joined(x.versions)) +
         text_entry("Method number", joined(x.methods)) + text_entry("Seeds", joined(x.seeds)) +
         text_entry("SIMD level", joined(x.simd)) +
         text_entry("Threads per point", joined(x.threads)) + text_entry("Hosts", joined(x.hosts)) +
         text_entry("Finished", x.first_finished == x.last_finished
                                    ? x.first_finished
                                    : fmt::format("{} to {}", x.first_finished, x.last_finished)) +
         text_entry("Wall time of all points", fmt::format("{:.3g} s", x.seconds)) + "</dl>\n";
}

std::string reproduce_part(const StudyView& view, const PageFacts& facts) {
  const std::string file = file_word(view.study.name + ".toml");
  const std::string store = file_word(facts.store_file);
  return fmt::format(
      R"(<h3>Compute it again</h3>
<p>Save the study file below as <code>{0}</code> and run these commands. Points that are in the
store are not computed again, so use a new store to check them.</p>
<pre>{1}</pre>
<details open><summary>{0}</summary>
<pre>{2}</pre></details>
)",
      escape(view.study.name + ".toml"),
      escape(fmt::format("onset sweep {} --store {}\n{}\nonset report {} --out report.html", file,
                         store, export_command(view.study.name, facts.store_file), store)),
      escape(view.study.source));
}

}  // namespace onset::report::html
