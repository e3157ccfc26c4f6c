#include "explore/watch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "core/field_names.hpp"
#include "io/json_record.hpp"
#include "report/html/study_view.hpp"
#include "report/point_text.hpp"

namespace onset::explore {
namespace {

using report::html::StudyView;

/// The pace is that of this many points: enough to smooth it, few enough to follow a change.
constexpr std::size_t pace_points = 20;

std::optional<double> seconds_since_1970(const std::string& utc) {
  std::tm parts{};
  if (strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return std::nullopt;
  return static_cast<double>(timegm(&parts));
}

Json counts_json(const StudyView& view) {
  Json counts = Json::object();
  for (const auto& count : view.counts()) counts[count.word] = count.points;
  return counts;
}

std::vector<std::string> finished_times(const StudyView& view) {
  std::vector<std::string> times;
  for (const auto& record : view.records) {
    if (record) times.push_back(record->finished);
  }
  return times;
}

Json problems_json(const StudyView& view) {
  Json problems = Json::array();
  for (std::size_t i = 0; i < view.records.size() && problems.size() < max_watched_rows; ++i) {
    const auto& record = view.records[i];
    if (!record || record->status == study::PointStatus::ok) continue;
    problems.push_back(
        {{"point", report::axis_text(view.study.axes, view.study.points[i].axis_values)},
         {"status", to_string(record->status)},
         {"reason", with_keys(record->reason)},
         {"command", command_of(view, *record)}});
  }
  return problems;
}

Json study_json(const StudyView& view, const std::string& store_file) {
  const std::vector<std::string> finished = finished_times(view);
  const auto left = seconds_left(finished, view.study.points.size() - finished.size());
  const std::string file = view.study.name + ".toml";
  return {{"name", view.study.name},
          {"title", view.definition ? view.definition->title : ""},
          {"description", view.definition ? view.definition->description : ""},
          {"command", view.study.command},
          {"primary", view.verb ? view.verb->primary : ""},
          {"axes", axis_columns(view)},
          {"points", view.study.points.size()},
          {"counts", counts_json(view)},
          {"seconds_left", left ? Json(*left) : Json(nullptr)},
          {"last_finished",
           finished.empty() ? "" : *std::max_element(finished.begin(), finished.end())},
          {"columns", io::detail::columns_json(view.table.columns())},
          {"rows", io::detail::rows_json(view.table, max_watched_rows)},
          {"total_rows", view.table.rows().size()},
          {"problems", problems_json(view)},
          {"toml", view.study.source},
          {"sweep", fmt::format("onset sweep {} --store {}", report::file_word(file),
                                report::file_word(store_file))}};
}

}  // namespace

std::string file_version(const std::filesystem::path& file) {
  struct stat state = {};
  if (stat(file.c_str(), &state) != 0) return {};
  return fmt::format("{}-{}-{}", state.st_mtim.tv_sec, state.st_mtim.tv_nsec, state.st_size);
}

std::optional<double> seconds_left(std::vector<std::string> finished, std::size_t missing) {
  std::sort(finished.begin(), finished.end());
  const std::size_t used = std::min(pace_points, finished.size());
  if (used < 2) return std::nullopt;
  const auto first = seconds_since_1970(finished[finished.size() - used]);
  const auto last = seconds_since_1970(finished.back());
  if (!first || !last) return std::nullopt;
  return static_cast<double>(missing) * (*last - *first) / static_cast<double>(used - 1);
}

Json store_json(const study::Store& store, std::span<const Verb> verbs) {
  Json studies = Json::array();
  for (const study::StudyRecord& study : store.studies()) {
    studies.push_back(
        study_json(report::html::view_of(study, store, verbs), store.path().string()));
  }
  return studies;
}

}  // namespace onset::explore
