#include "onset/report/figure_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "io/toml_reader.hpp"
#include "onset/core/error.hpp"
#include "onset/core/words.hpp"

namespace onset::report {

using io::complain;

namespace {

/// A run with its verb and the complete parameters of each of its calls.
struct PlannedRun {
  const FigureRun* spec = nullptr;
  const Verb* verb = nullptr;
  std::vector<Parameters> calls;
  std::vector<double> axis_values;  ///< one per call, or empty without an axis
};

const Verb& find_verb_of(const FigureRun& run, std::span<const Verb> verbs) {
  const std::string wanted = run.family + " " + run.verb;
  std::vector<std::string> known;
  for (const Verb& verb : verbs) {
    if (verb.full_name() == wanted) return verb;
    known.push_back(verb.full_name());
  }
  complain(run.place, fmt::format("there is no command '{}'{}", wanted, suggestion(wanted, known)));
}

PlannedRun plan_run(const FigureRun& run, std::span<const Verb> verbs,
                    const FigureOptions& options) {
  PlannedRun plan{&run, &find_verb_of(run, verbs), {}, {}};
  std::map<std::string, Value> given = run.fixed;
  if (options.quick) {
    for (const auto& [name, value] : run.quick) given[name] = value;
  }
  given.try_emplace("seed", options.seed);
  const std::vector<Parameter> parameters = effective_parameters(*plan.verb);
  try {
    if (!run.axis) {
      plan.calls.push_back(complete(parameters, given));
      return plan;
    }
    const bool quick = options.quick && !run.axis->quick_values.empty();
    plan.axis_values = quick ? run.axis->quick_values : run.axis->values;
    for (const double value : plan.axis_values) {
      given[run.axis->parameter] = value;
      plan.calls.push_back(complete(parameters, given));
    }
    return plan;
  } catch (const InvalidArgument& error) {
    complain(run.place, fmt::format("run '{}': {}", run.id, error.what()));
  }
}

/// Puts the rows of one call behind those already there.
void append_rows(Table& all, const Table& rows, const RunAxis* axis, double axis_value) {
  const bool prepend = axis != nullptr && std::none_of(rows.columns().begin(), rows.columns().end(),
                                                       [&](const Column& column) {
                                                         return column.name == axis->parameter;
                                                       });
  if (all.columns().empty()) {
    std::vector<Column> columns = rows.columns();
    if (prepend) columns.insert(columns.begin(), Column{axis->parameter, "axis value", "", false});
    all = Table(std::move(columns));
  }
  for (std::vector<Cell> row : rows.rows()) {
    if (prepend) row.insert(row.begin(), Cell{axis_value});
    all.add_row(std::move(row));
  }
}

/// A context whose progress is that of call `index` of `count`.
Context share_of_progress(const Context& context, std::size_t index, std::size_t count) {
  Context inner = context;
  inner.progress = [&context, index, count](double fraction, std::string_view what) {
    context.report((static_cast<double>(index) + fraction) / static_cast<double>(count), what);
  };
  return inner;
}

Result call_verb(const Verb& verb, const Parameters& parameters, const Context& context) {
  try {
    context.check();
    return verb.run(parameters, context);
  } catch (const Interrupted&) {
    return {.table = Table(verb.columns),
            .summary = {},
            .status = ResultStatus::interrupted,
            .reason = "interrupted",
            .notes = {}};
  } catch (const Refused& refused) {
    return {.table = Table(verb.columns),
            .summary = {},
            .status = ResultStatus::refused,
            .reason = refused.what(),
            .notes = {}};
  }
}

void check_columns(const RunData& data, const std::string& run, const Place& place,
                   const Filter& filter, std::initializer_list<std::string> columns) {
  if (run != data.id) return;
  try {
    for (const std::string& name : columns) (void)data.table.column(name);
    for (const auto& [name, value] : filter) (void)data.table.column(name);
  } catch (const InvalidArgument& error) {
    complain(place, fmt::format("run '{}': {}", run, error.what()));
  }
}

/// Wrong names of columns are found before the next, maybe long, run.
void check_uses(const FigureSpec& spec, const RunData& data) {
  // A run that gave nothing may lack the columns that depend on its parameters.
  if (data.table.rows().empty()) return;
  for (const Panel& panel : spec.panels) {
    for (const Series& use : panel.series) {
      check_columns(data, use.run, use.place, use.filter, {use.x, use.y});
    }
    for (const Guide& use : panel.guides) {
      check_columns(data, use.run, use.place, use.filter, {use.x});
    }
  }
}

RunData compute_run(const PlannedRun& plan, const Context& context, std::size_t& done,
                    std::size_t total) {
  RunData data;
  data.id = plan.spec->id;
  const auto start = std::chrono::steady_clock::now();
  const RunAxis* axis = plan.spec->axis ? &*plan.spec->axis : nullptr;
  for (std::size_t i = 0; i < plan.calls.size() && data.status != ResultStatus::interrupted; ++i) {
    const Result result =
        call_verb(*plan.verb, plan.calls[i], share_of_progress(context, done++, total));
    if (!result.table.rows().empty()) {
      append_rows(data.table, result.table, axis, axis ? plan.axis_values[i] : 0.0);
    }
    data.calls.push_back(plan.calls[i]);
    if (result.status > data.status) {
      data.status = result.status;
      data.reason = result.reason;
    }
  }
  if (data.table.columns().empty()) data.table = Table(plan.verb->columns);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  data.seconds = elapsed.count();
  return data;
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

FigureData compute_figure(const FigureSpec& spec, std::span<const Verb> verbs,
                          const FigureOptions& options, const Context& context) {
  std::vector<PlannedRun> plans;
  std::size_t total = 0;
  for (const FigureRun& run : spec.runs) {
    plans.push_back(plan_run(run, verbs, options));
    total += plans.back().calls.size();
  }
  FigureData data;
  std::size_t done = 0;
  for (const PlannedRun& plan : plans) {
    data.runs.push_back(compute_run(plan, context, done, total));
    check_uses(spec, data.runs.back());
    if (data.runs.back().status == ResultStatus::interrupted) break;
  }
  return data;
}

}  // namespace onset::report
