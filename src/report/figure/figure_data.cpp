#include "report/figure_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "onset/core/error.hpp"
#include "report/point_text.hpp"
#include "report/study_text.hpp"

namespace onset::report {

using io::complain;

namespace {

study::Plan plan_run(const FigureRun& run, std::span<const Verb> verbs,
                     const FigureOptions& options) {
  study::Study study = options.quick ? run.quick : options.full ? run.full : run.study;
  const bool has_seed = !study.seeds.empty() || study.fixed.contains("seed") ||
                        std::any_of(study.axes.begin(), study.axes.end(),
                                    [](const study::Axis& a) { return a.parameter == "seed"; });
  if (!has_seed) study.fixed["seed"] = options.seed;
  study.source = study_text(study);
  return make_plan(study, verbs);
}

void check_columns(const RunData& data, const std::string& run, const Place& place,
                   const Filter& filter, const std::vector<std::string>& columns) {
  if (run != data.id) return;
  try {
    for (const std::string& name : columns) (void)data.table.column(name);
    for (const auto& [name, value] : filter) (void)data.table.column(name);
  } catch (const InvalidArgument& error) {
    complain(place, fmt::format("run '{}': {}", run, error.what()));
  }
}

/// Checks the names of columns, so that a wrong one is found before the next, possibly long, run.
void check_uses(const FigureSpec& spec, const RunData& data) {
  // A run that gave nothing may lack the columns that depend on its parameters.
  if (data.table.rows().empty()) return;
  for (const Panel& panel : spec.panels) {
    for (const Series& use : panel.series) {
      std::vector<std::string> columns = use.group;
      columns.insert(columns.end(), {use.x, use.y});
      columns.insert(columns.end(), use.average.begin(), use.average.end());
      if (!use.x_over.empty()) columns.push_back(use.x_over);
      check_columns(data, use.run, use.place, use.filter, columns);
    }
    for (const Guide& use : panel.guides) {
      check_columns(data, use.run, use.place, use.filter, {use.x});
    }
    if (const auto& use = panel.map) {
      check_columns(data, use->run, use->place, use->filter, {use->x, use->y, use->z});
    }
  }
}

ResultStatus status_of(const study::SweepProgress& progress) {
  if (progress.missing() > 0) return ResultStatus::interrupted;
  if (progress.refused > 0) return ResultStatus::refused;
  return progress.failed + progress.unconverged > 0 ? ResultStatus::unconverged : ResultStatus::ok;
}

/// How many points are not as they should be, and the reason of the first of them.
std::string problem_text(const study::Plan& plan, const study::Store& store) {
  std::size_t count = 0;
  std::string first;
  for (const study::Point& point : plan.points) {
    const auto record = store.find(point.key);
    if (!record || record->status == study::PointStatus::ok) continue;
    if (++count == 1) {
      const std::string axes = axis_text(plan.axes, point.axis_values);
      first = fmt::format("{}{}{}: {}", axes, axes.empty() ? "" : ": ", to_string(record->status),
                          record->reason);
    }
  }
  return count < 2 ? first : fmt::format("{} points, the first at {}", count, first);
}

RunData collect_run(const study::Plan& plan, const study::Store& store,
                    const study::SweepProgress& progress) {
  RunData data;
  data.id = plan.study.name;
  data.table = study_table(record_of(plan), store);
  if (data.table.columns().empty()) data.table = Table(plan.verb->columns());
  data.status = status_of(progress);
  data.reason = data.status == ResultStatus::interrupted
                    ? fmt::format("{} of {} points are done", progress.finished(), progress.points)
                    : problem_text(plan, store);
  data.computed = progress.computed;
  for (const study::Point& point : plan.points) {
    data.calls.push_back(point.parameters);
    if (const auto record = store.find(point.key)) data.seconds += record->seconds;
  }
  return data;
}

/// The points of all runs before this one, and of all runs.
struct Share {
  std::size_t before = 0;
  std::size_t total = 0;
};

RunData compute_run(const study::Plan& plan, const FigureOptions& options, study::Store& store,
                    const Context& context, const study::MakeWorkers& make_workers,
                    const Share& share) {
  store.put(record_of(plan));
  study::SweepOptions sweep;
  sweep.retry = options.retry;
  const study::SweepProgress before = sweep_status(plan, store, sweep);
  const std::size_t to_do = options.retry ? plan.points.size() : before.missing();
  const auto workers = make_workers(plan, to_do, context);
  const auto report = [&](const study::SweepProgress& progress) {
    context.report(
        static_cast<double>(share.before + progress.finished()) / static_cast<double>(share.total),
        fmt::format("{}: {} of {} points", plan.study.name, progress.finished(), progress.points));
  };
  return collect_run(plan, store, run_sweep(plan, store, *workers, sweep, context, report));
}

const RunData* worst_of(const std::vector<RunData>& runs) {
  const auto worst =
      std::max_element(runs.begin(), runs.end(),
                       [](const RunData& a, const RunData& b) { return a.status < b.status; });
  return worst == runs.end() ? nullptr : &*worst;
}

}  // namespace

ResultStatus FigureData::status() const {
  const RunData* worst = worst_of(runs);
  return worst ? worst->status : ResultStatus::ok;
}

std::string FigureData::reason() const {
  const RunData* worst = worst_of(runs);
  return worst && worst->status != ResultStatus::ok
             ? fmt::format("run '{}': {}", worst->id, worst->reason)
             : std::string();
}

const RunData& FigureData::run(const std::string& id) const {
  for (const RunData& data : runs) {
    if (data.id == id) return data;
  }
  throw InvalidArgument("run", fmt::format("'{}' has not been computed", id));
}

void check_figure(const FigureSpec& spec, std::span<const Verb> verbs,
                  const FigureOptions& options) {
  for (const FigureRun& run : spec.runs) (void)plan_run(run, verbs, options);
}

std::vector<RunCost> figure_costs(const FigureSpec& spec, std::span<const Verb> verbs,
                                  const FigureOptions& options) {
  std::vector<RunCost> costs;
  for (const FigureRun& run : spec.runs) {
    const study::Plan plan = plan_run(run, verbs, options);
    RunCost cost{run.id, run.study.command, plan.points.size()};
    for (const study::Point& point : plan.points) cost.core_seconds += point.core_seconds;
    costs.push_back(std::move(cost));
  }
  return costs;
}

void adopt_points(const FigureSpec& spec, std::span<const Verb> verbs, const FigureOptions& options,
                  const study::Store& source, study::Store& store) {
  using enum study::PointStatus;
  const std::map<std::string, study::PointStatus> own = store.statuses();
  for (const FigureRun& run : spec.runs) {
    for (const study::Point& point : plan_run(run, verbs, options).points) {
      const auto present = own.find(point.key);
      if (present != own.end() && present->second == ok) continue;
      const auto record = source.find(point.key);
      // A point that failed elsewhere, say for memory, may succeed here.
      if (!record || record->status == failed) continue;
      if (record->status == ok || present == own.end()) store.put(*record);
    }
  }
}

FigureData compute_figure(const FigureSpec& spec, std::span<const Verb> verbs,
                          const FigureOptions& options, study::Store& store, const Context& context,
                          const study::MakeWorkers& make_workers) {
  std::vector<study::Plan> plans;
  Share share;
  for (const FigureRun& run : spec.runs) {
    plans.push_back(plan_run(run, verbs, options));
    share.total += plans.back().points.size();
  }
  FigureData data;
  for (const study::Plan& plan : plans) {
    data.runs.push_back(compute_run(plan, options, store, context, make_workers, share));
    share.before += plan.points.size();
    check_uses(spec, data.runs.back());
    if (data.runs.back().status == ResultStatus::interrupted) break;
  }
  return data;
}

}  // namespace onset::report
