#include "studies.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <optional>

#include "answer.hpp"
#include "background.hpp"
#include "io/file_status.hpp"
#include "onset/catalog.hpp"
#include "onset/study/sweep.hpp"

namespace onset::python {
namespace {

py::dict to_python(const study::SweepProgress& progress) {
  py::dict out;
  out["points"] = progress.points;
  out["ok"] = progress.ok;
  out["unconverged"] = progress.unconverged;
  out["refused"] = progress.refused;
  out["failed"] = progress.failed;
  out["missing"] = progress.missing();
  out["computed"] = progress.computed;
  return out;
}

/// The rows of a study with what a picture of them needs.
Answer rows_of(const study::StudyRecord& study, const study::Store& store) {
  Answer answer;
  answer.record.command = study.command;
  answer.record.parameters.set("study", study.name);
  answer.record.result.table = study::study_table(study, store);
  answer.axes = study.axes;
  for (const Verb& verb : catalog()) {
    if (verb.full_name() == study.command) answer.primary = verb.primary;
  }
  return answer;
}

Answer read_rows(const std::string& path, const std::string& name) {
  const study::Store store(path, study::Store::Mode::read);
  return rows_of(store.study(name), store);
}

py::list names_of_studies(const std::string& path) {
  py::list out;
  for (const auto& study : study::Store(path, study::Store::Mode::read).studies()) {
    out.append(study.name);
  }
  return out;
}

/// How many points of a study of a store ended how.
py::dict status_in_store(const std::string& path, const std::string& name) {
  const study::Store store(path, study::Store::Mode::read);
  const auto statuses = store.statuses();
  study::SweepProgress progress;
  const study::StudyRecord study = store.study(name);
  for (const auto& entry : study.points) {
    ++progress.points;
    const auto found = statuses.find(entry.key);
    if (found == statuses.end()) continue;
    switch (found->second) {
      case study::PointStatus::ok: ++progress.ok; break;
      case study::PointStatus::unconverged: ++progress.unconverged; break;
      case study::PointStatus::refused: ++progress.refused; break;
      case study::PointStatus::failed: ++progress.failed; break;
    }
  }
  return to_python(progress);
}

/// A study that has been checked.
class Study {
 public:
  Study(const std::string& text, const std::string& file)
      : plan_(study::make_plan(study::parse_study(text, file), catalog())) {}

  [[nodiscard]] std::string name() const { return plan_.study.name; }
  [[nodiscard]] std::string command() const { return plan_.study.command; }
  [[nodiscard]] double core_seconds() const {
    double sum = 0.0;
    for (const study::Point& point : plan_.points) sum += point.core_seconds;
    return sum;
  }

  [[nodiscard]] py::dict status(const std::string& path) const {
    const std::optional<study::Store> store = study::open_if_there(path);
    if (!store) {
      study::SweepProgress none;
      none.points = plan_.points.size();
      return to_python(none);
    }
    return to_python(study::sweep_status(plan_, *store, {}));
  }

  py::dict run(const std::string& path, bool retry, const How& how) const {
    study::SweepProgress done;
    in_background(how, [&](const Context& context) {
      study::Store store(path, study::Store::Mode::write, context.stop);
      store.put(study::record_of(plan_));
      study::SweepOptions options;
      options.retry = retry;
      const auto workers = study::local_workers(plan_, plan_.points.size(), context);
      done = study::run_sweep(
          plan_, store, *workers, options, context, [&](const study::SweepProgress& now) {
            const auto of = static_cast<double>(now.points);
            context.report(static_cast<double>(now.finished()) / of,
                           fmt::format("{} of {} points", now.finished(), now.points));
          });
    });
    return to_python(done);
  }

 private:
  study::Plan plan_;
};

}  // namespace

void add_studies(py::module_& module) {
  module.def("read_rows", &read_rows);
  module.def("names_of_studies", &names_of_studies);
  module.def("status_in_store", &status_in_store);
  py::class_<Study>(module, "Study")
      .def(py::init<const std::string&, const std::string&>())
      .def_property_readonly("name", &Study::name)
      .def_property_readonly("command", &Study::command)
      .def_property_readonly("core_seconds", &Study::core_seconds)
      .def("status", &Study::status)
      .def("run",
           [](const Study& study, const std::string& path, bool retry, std::optional<int> threads,
              std::optional<double> max_seconds, const py::object& progress) {
             return study.run(path, retry, {threads, max_seconds, progress});
           });
}

}  // namespace onset::python
