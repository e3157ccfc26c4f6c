#include "explore/watch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "core/field_names.hpp"
#include "io/json_record.hpp"
#include "report/html/study_view.hpp"
#include "report/point_text.hpp"
#include "study/store/store_parts.hpp"

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

Json counts_json(const std::map<std::string, std::size_t>& counts) {
  Json out = Json::object();
  for (const char* word : {"ok", "unconverged", "refused", "failed", "missing"}) {
    if (const auto found = counts.find(word); found != counts.end()) out[word] = found->second;
  }
  return out;
}

const Verb* verb_of(const study::StudyHead& head, std::span<const Verb> verbs) {
  const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) {
    return verb.full_name() == head.command;
  });
  return found == verbs.end() ? nullptr : &*found;
}

Json head_json(const study::StudyHead& head, const study::StoreParts& parts, const Verb* verb,
               const std::string& store_file) {
  const auto counts = parts.counts(head);
  const auto missing = counts.find("missing");
  const std::vector<std::string> finished = parts.last_finished(head, pace_points);
  const auto left = seconds_left(finished, missing == counts.end() ? 0 : missing->second);
  const auto definition = report::html::read_definition(head.source, head.name);
  const std::string file = head.name + ".toml";
  return {{"name", head.name},
          {"title", definition ? definition->title : ""},
          {"description", definition ? definition->description : ""},
          {"command", head.command},
          {"primary", verb != nullptr ? verb->primary : ""},
          {"points", head.points},
          {"counts", counts_json(counts)},
          {"seconds_left", left ? Json(*left) : Json(nullptr)},
          {"last_finished",
           finished.empty() ? "" : *std::max_element(finished.begin(), finished.end())},
          {"toml", head.source},
          {"sweep", fmt::format("onset sweep {} --store {}", report::file_word(file),
                                report::file_word(store_file))}};
}

Json problems_json(const StudyView& view) {
  Json problems = Json::array();
  for (const auto& [place, record] : view.problems) {
    problems.push_back(
        {{"point", report::axis_text(view.study.axes, view.study.points[place].axis_values)},
         {"status", to_string(record->status)},
         {"reason", with_keys(record->reason)},
         {"command", command_of(view, *record)}});
  }
  return problems;
}

/// How many points fit into an answer if all have as many rows as the first that is done.
std::size_t fitting_points(const study::StudyHead& head, const study::StoreParts& parts,
                           const study::Store& store) {
  constexpr std::size_t looked_at = 100;
  const std::size_t stride = std::max<std::size_t>(1, head.points / looked_at);
  for (const auto& entry : parts.part(head, {0, stride, looked_at}).points) {
    const auto record = store.find(entry.key);
    if (!record || record->table.rows().empty()) continue;
    return std::clamp<std::size_t>(max_watched_rows / record->table.rows().size(), 1,
                                   max_watched_points);
  }
  return max_watched_points;
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
  const study::StoreParts parts(store);
  Json studies = Json::array();
  for (const study::StudyHead& head : parts.studies()) {
    studies.push_back(head_json(head, parts, verb_of(head, verbs), store.path().string()));
  }
  return studies;
}

std::optional<Json> study_part_json(const study::Store& store, std::size_t index,
                                    const WatchedPart& part, std::span<const Verb> verbs) {
  const study::StoreParts parts(store);
  const std::vector<study::StudyHead> heads = parts.studies();
  if (index >= heads.size()) return std::nullopt;
  const study::StudyHead& head = heads[index];
  const std::size_t count = fitting_points(head, parts, store);
  const std::size_t spread = std::max<std::size_t>(1, (head.points + count - 1) / count);
  const study::PointRange range{std::min(part.first, head.points),
                                part.stride == 0 ? spread : std::min(part.stride, head.points),
                                count};
  const StudyView view =
      report::html::view_of(parts.part(head, range), store, verbs, max_watched_rows);
  const StudyView problems =
      report::html::view_of(parts.not_ok(head, {part.problems, 1, max_watched_problems}), store,
                            verbs, max_watched_problems);
  return Json{{"first", range.first},
              {"stride", range.stride},
              {"count", range.count},
              {"axes", axis_columns(view)},
              {"columns", io::detail::columns_json(view.table.columns())},
              {"rows", io::detail::rows_json(view.table, max_watched_rows)},
              {"total_rows", view.all_rows},
              {"problems", problems_json(problems)}};
}

}  // namespace onset::explore
