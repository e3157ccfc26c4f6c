// The module onset._onset has the catalogue and run(), as plain Python values. __init__.py makes
// what users see from them; no verb is named here.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "onset/io/format.hpp"
#include "onset/version.hpp"

namespace py = pybind11;

namespace {

using namespace onset;

/// How often a run checks for Ctrl-C and the time limit.
constexpr auto poll_interval = std::chrono::milliseconds(50);
constexpr int most_threads = 4096;  // as in the command

Value to_value(const std::string& name, const py::handle& object) {
  if (object.is_none()) return {};
  if (py::isinstance<py::bool_>(object)) return object.cast<bool>();
  if (py::isinstance<py::int_>(object)) return object.cast<std::int64_t>();
  if (py::isinstance<py::float_>(object)) return object.cast<double>();
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  try {
    return object.cast<std::vector<double>>();
  } catch (const py::cast_error&) {
    throw InvalidArgument(name,
                          "cannot be read; allowed: a number, a text, a truth, a list of numbers");
  }
}

py::object to_python(const Value& value) {
  return std::visit(
      [](const auto& x) -> py::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, std::monostate>) {
          return py::none();
        } else {
          return py::cast(x);
        }
      },
      value);
}

/// An estimate becomes a pair (value, error).
py::object to_python(const Cell& cell) {
  return std::visit(
      [](const auto& x) -> py::object {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return py::none();
        } else if constexpr (std::is_same_v<T, Estimate>) {
          return py::make_tuple(x.value, x.error);
        } else {
          return py::cast(x);
        }
      },
      cell);
}

py::dict to_python(const Table& table) {
  py::list columns;
  for (const Column& column : table.columns()) {
    columns.append(py::make_tuple(column.name, column.meaning, column.unit, column.estimate));
  }
  py::list rows;
  for (const auto& row : table.rows()) {
    py::list cells;
    for (const Cell& cell : row) cells.append(to_python(cell));
    rows.append(std::move(cells));
  }
  py::dict out;
  out["columns"] = columns;
  out["rows"] = rows;
  return out;
}

py::object to_python(const Artifact& artifact) {
  if (const auto* array = std::get_if<Array>(&artifact.content)) {
    return std::visit(
        [&](const auto& values) -> py::object {
          using T = typename std::decay_t<decltype(values)>::value_type;
          return py::array_t<T>(array->shape, values.data());
        },
        array->values);
  }
  if (const auto* table = std::get_if<Table>(&artifact.content)) return to_python(*table);
  return py::cast(std::get<std::string>(artifact.content));
}

py::dict to_python(const Result& result, const Parameters& parameters) {
  py::dict out = to_python(result.table);
  py::dict given;
  for (const auto& [name, value] : parameters.values()) given[py::cast(name)] = to_python(value);
  py::dict summary;
  for (const auto& [name, cell] : result.summary) summary[py::cast(name)] = to_python(cell);
  py::dict artifacts;
  for (const Artifact& artifact : result.artifacts) {
    artifacts[py::cast(artifact.path)] = to_python(artifact);
  }
  out["parameters"] = given;
  out["summary"] = summary;
  out["status"] = std::string(to_string(result.status));
  out["reason"] = result.reason;
  out["notes"] = result.notes;
  out["artifacts"] = artifacts;
  return out;
}

py::list verbs() {
  py::list out;
  for (const Verb& verb : catalog()) {
    py::list parameters;
    for (const Parameter& parameter : verb.parameters) {
      py::dict entry;
      entry["name"] = parameter.name;
      entry["text"] = parameter.text;
      entry["allowed"] = parameter.allowed();
      entry["required"] = parameter.required;
      entry["default"] = to_python(parameter.fallback);
      parameters.append(std::move(entry));
    }
    py::list columns;
    for (const Column& column : verb.columns()) {
      columns.append(py::make_tuple(column.name, column.meaning, column.unit, column.estimate));
    }
    py::dict entry;
    entry["family"] = verb.family;
    entry["name"] = verb.name;
    entry["summary"] = verb.summary;
    entry["details"] = verb.details;
    entry["parameters"] = parameters;
    entry["columns"] = columns;
    out.append(std::move(entry));
  }
  return out;
}

/// A run in a thread of its own, so that this one can see Ctrl-C and the time limit.
class BackgroundRun {
 public:
  BackgroundRun(const Verb& verb, const Call& call, int threads)
      : worker_([this, &verb, &call, threads](const std::stop_token& stop) {
          Context context;
          context.threads = threads;
          context.stop = stop;
          context.memory_limit = available_memory();
          try {
            result_ = onset::run(verb, call, context);
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          done_ = true;
          changed_.notify_all();
        }) {}

  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, poll_interval, [this] { return done_; });
  }
  void stop() { worker_.request_stop(); }

  Result take() {
    worker_.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(result_);
  }

 private:
  Result result_;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::jthread worker_;  // comes last, since it uses the others
};

void check_limits(std::optional<int> threads, std::optional<double> max_seconds) {
  if (threads && (*threads < 1 || *threads > most_threads)) {
    throw InvalidArgument("threads", std::to_string(*threads) +
                                         " is not allowed; allowed: a whole number in [1, " +
                                         std::to_string(most_threads) + "]");
  }
  if (max_seconds && !(*max_seconds > 0.0)) {
    throw InvalidArgument("max_seconds",
                          to_text(Value(*max_seconds)) + " is not allowed; allowed: a number > 0");
  }
}

py::dict run_verb(const std::string& family, const std::string& name, const py::dict& given,
                  std::optional<int> threads, std::optional<double> max_seconds) {
  const Verb& verb = find_verb(family, name);
  std::map<std::string, Value> values;
  for (const auto& [key, value] : given) {
    const auto field = key.cast<std::string>();
    std::string parameter = field;
    std::replace(parameter.begin(), parameter.end(), '_', '-');
    values[parameter] = to_value(field, value);
  }
  const Call call = verb.settle(values);
  check_limits(threads, max_seconds);
  const auto start = std::chrono::steady_clock::now();
  BackgroundRun background(verb, call, threads.value_or(available_threads()));
  bool signalled = false;
  for (;;) {
    bool done = false;
    {
      const py::gil_scoped_release release;
      done = background.wait();
    }
    if (done) break;
    signalled = signalled || PyErr_CheckSignals() != 0;
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (signalled || (max_seconds && spent.count() > *max_seconds)) background.stop();
  }
  const Result result = background.take();
  if (signalled) throw py::error_already_set();
  return to_python(result, call.parameters);
}

}  // namespace

PYBIND11_MODULE(_onset, module) {
  module.attr("version") = std::string(version());
  module.def("verbs", &verbs);
  module.def("run", &run_verb, py::arg("family"), py::arg("name"), py::arg("parameters"),
             py::arg("threads") = py::none(), py::arg("max_seconds") = py::none());
  py::register_exception<InvalidArgument>(module, "InvalidArgument", PyExc_ValueError);
  py::register_exception<IoError>(module, "IoError", PyExc_OSError);
}
