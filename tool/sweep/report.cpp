#include "tool/sweep/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/prose.hpp"
#include "onset/core/error.hpp"
#include "tool/output.hpp"

namespace onset::tool {
namespace {

using study::PointStatus;
using study::SweepProgress;

constexpr std::size_t troubles_shown = 20;
constexpr double bytes_per_mebibyte = 1024.0 * 1024.0;

std::int64_t whole(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

/// The axes of a point, such as "tokens = 3, skip = 1,0.5".
std::string axis_text(const study::Plan& plan, std::size_t index) {
  std::vector<std::string> parts;
  for (std::size_t a = 0; a < plan.axes.size(); ++a) {
    parts.push_back(plan.axes[a] + " = " + to_text(plan.points[index].axis_values[a]));
  }
  return parts.empty() ? "the only point" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string time_text(double seconds) {
  if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

/// Sets the status and reason of the whole, in order of importance.
void conclude(Result& result, const SweepRequest& request, const SweepOutcome& outcome) {
  const SweepProgress& now = outcome.progress;
  const std::string store = request.store.string();
  if (now.missing() > 0 && outcome.cause != StopCause::none) {
    result.status = ResultStatus::interrupted;
    result.reason =
        outcome.cause == StopCause::time_limit
            ? fmt::format(
                  "the time limit of {} h (--max-hours) was reached; finished points are "
                  "in {}; run the same command again to go on",
                  request.max_hours.value_or(0.0), store)
            : fmt::format("finished points are in {}; run the same command again to go on", store);
  } else if (now.missing() > 0) {
    result.status = ResultStatus::unconverged;
    result.reason = fmt::format("{} missing", counted(now.missing(), "point"));
  } else if (now.unconverged + now.refused + now.failed > 0) {
    result.status = ResultStatus::unconverged;
    result.reason = fmt::format("{} failed, {} refused, {} unconverged; --retry computes {} again",
                                now.failed, now.refused, now.unconverged,
                                now.unconverged + now.refused + now.failed == 1 ? "it" : "them");
  }
}

io::RunRecord empty_record(const SweepRequest& request) {
  io::RunRecord record;
  record.command = "sweep";
  record.parameters.set("study", request.study.string());
  record.parameters.set("store", request.store.string());
  return record;
}

/// Rounds to milliseconds, which is as fine as anyone wants to read.
double rounded(double seconds) {
  constexpr double per_second = 1000.0;
  return std::round(seconds * per_second) / per_second;
}

/// Shortens lists that would push the line of a table off the screen.
std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 24;
  return text.size() <= longest ? text : text.substr(0, longest - 2) + "..";
}

Cell axis_cell(const Value& value, bool whole_text) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return *count;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* list = std::get_if<std::vector<double>>(&value); list && list->size() == 1) {
    return list->front();
  }
  return whole_text ? to_text(value) : shortened(to_text(value));
}

}  // namespace

io::RunRecord sweep_record(const study::Plan& plan, const SweepRequest& request,
                           const SweepOutcome& outcome) {
  io::RunRecord record = empty_record(request);
  const SweepProgress& now = outcome.progress;
  Result& result = record.result;
  result.table = Table({{"study", "name of the study", "", false},
                        {"points", "in all, or of this shard", "", false},
                        {"ok", "finished", "", false},
                        {"unconverged", "finished, but did not converge", "", false},
                        {"refused", "cannot be answered honestly", "", false},
                        {"failed", "ended with an error", "", false},
                        {"missing", "not computed yet", "", false},
                        {"computed", "computed by this run", "", false},
                        {"seconds", "wall time of this run", "s", false}});
  result.table.add_row({plan.study.name, whole(now.points), whole(now.ok), whole(now.unconverged),
                        whole(now.refused), whole(now.failed), whole(now.missing()),
                        whole(now.computed), rounded(outcome.seconds)});
  record.seconds = outcome.seconds;
  conclude(result, request, outcome);
  return record;
}

io::RunRecord list_points(const study::Plan& plan, const SweepRequest& request,
                          const study::Store* store) {
  io::RunRecord record = empty_record(request);
  std::vector<Column> columns{{"point", "place in the study, from 1", "", false}};
  if (request.list) columns.push_back({"key", "what its result is filed under", "", false});
  for (const std::string& axis : plan.axes) columns.push_back({axis, "axis value", "", false});
  columns.push_back({"state", "missing: not computed yet", "", false});
  columns.push_back({"core_seconds", "estimated work on one core", "s", false});
  if (request.list) columns.push_back({"memory_mib", "estimated memory", "MiB", false});
  record.result.table = Table(std::move(columns));

  const auto statuses = store ? store->statuses() : std::map<std::string, PointStatus>{};
  double missing_work = 0.0;
  std::int64_t missing = 0;
  for (const std::size_t i : study::chosen_points(plan, request.sweep)) {
    const study::Point& point = plan.points[i];
    const auto found = statuses.find(point.key);
    const bool there = found != statuses.end();
    std::vector<Cell> row{whole(i + 1)};
    if (request.list) row.emplace_back(point.key);
    for (const Value& value : point.axis_values) row.push_back(axis_cell(value, request.list));
    row.emplace_back(there ? std::string(to_string(found->second)) : std::string("missing"));
    row.emplace_back(rounded(point.core_seconds));
    if (request.list) row.emplace_back(std::ceil(point.memory_bytes / bytes_per_mebibyte));
    if (!there || (request.sweep.retry && found->second != PointStatus::ok)) {
      missing_work += point.core_seconds;
      ++missing;
    }
    record.result.table.add_row(std::move(row));
  }
  record.result.summary = {{"points", whole(record.result.table.rows().size())},
                           {"to_compute", missing},
                           {"core_seconds_to_compute", rounded(missing_work)}};
  record.result.notes = {"Nothing was computed."};
  return record;
}

void say_troubles(const study::Plan& plan, const SweepRequest& request, const study::Store& store) {
  const auto statuses = store.statuses();
  std::size_t troubles = 0;
  for (const std::size_t i : study::chosen_points(plan, request.sweep)) {
    const auto found = statuses.find(plan.points[i].key);
    if (found == statuses.end() || found->second == PointStatus::ok ||
        ++troubles > troubles_shown) {
      continue;
    }
    const auto record = store.find(plan.points[i].key);
    say(fmt::format("point {} {}: {}: {}", i + 1, to_string(found->second), axis_text(plan, i),
                    record ? record->reason : std::string()));
  }
  if (troubles > troubles_shown) {
    say(fmt::format("and {} more", counted(troubles - troubles_shown, "point")));
  }
}

double fraction_done(const SweepProgress& progress) {
  return static_cast<double>(progress.finished()) /
         static_cast<double>(std::max<std::size_t>(progress.points, 1));
}

std::string progress_line(const SweepProgress& progress) {
  std::string line = fmt::format("{}/{} points", progress.finished(), progress.points);
  const std::size_t bad = progress.failed + progress.refused + progress.unconverged;
  if (bad > 0) line += fmt::format(", {} failed", bad);
  line += fmt::format(", {} running", progress.running);
  if (progress.seconds_left) line += ", " + time_text(*progress.seconds_left) + " left";
  return line;
}

}  // namespace onset::tool
