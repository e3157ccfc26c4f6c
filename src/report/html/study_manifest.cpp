#include <fmt/format.h>

#include <algorithm>
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

/// Collects what differs between the points, each value once.
class Collected {
 public:
  explicit Collected(const StudyView& view) {
    for (const auto& record : view.records) {
      if (!record) continue;
      versions_.insert(record->version);
      simd_.insert(record->simd);
      hosts_.insert(record->host);
      methods_.insert(fmt::format("{}", record->method));
      threads_.insert(record->threads);
      if (record->parameters.has("seed")) seeds_.insert(record->parameters.integer("seed"));
      finished_.insert(record->finished);
      seconds_ += record->seconds;
    }
  }

  [[nodiscard]] std::string html() const {
    if (finished_.empty()) return {};
    return "<dl>\n" + text_entry("Onset", joined(versions_)) +
           text_entry("Method number", joined(methods_)) + text_entry("Seeds", joined(seeds_)) +
           text_entry("SIMD level", joined(simd_)) +
           text_entry("Threads per point", joined(threads_)) + text_entry("Hosts", joined(hosts_)) +
           text_entry("Finished",
                      finished_.size() == 1
                          ? *finished_.begin()
                          : fmt::format("{} to {}", *finished_.begin(), *finished_.rbegin())) +
           text_entry("Wall time of all points", fmt::format("{:.3g} s", seconds_)) + "</dl>\n";
  }

 private:
  template <class T>
  static std::string joined(const std::set<T>& values) {
    constexpr std::size_t most = 20;
    std::string out;
    std::size_t count = 0;
    for (const T& value : values) {
      if (++count > most) return out + fmt::format(", \u2026 ({} in all)", values.size());
      out += fmt::format("{}{}", out.empty() ? "" : ", ", value);
    }
    return out;
  }

  std::set<std::string> versions_;
  std::set<std::string> simd_;
  std::set<std::string> hosts_;
  std::set<std::string> methods_;
  std::set<int> threads_;
  std::set<std::int64_t> seeds_;
  std::set<std::string> finished_;
  double seconds_ = 0.0;
};

}  // namespace

std::string manifest_part(const StudyView& view) {
  const std::string facts = Collected(view).html();
  return facts.empty() ? facts : "<h3>Manifest</h3>\n" + facts;
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
