#include "catalogue.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <chrono>

#include "answer.hpp"
#include "background.hpp"
#include "core/field_names.hpp"
#include "core/suggestion.hpp"
#include "onset/catalog.hpp"
#include "onset/core/error.hpp"
#include "own_link.hpp"
#include "smi/verbs/own_model.hpp"

namespace onset::python {
namespace {

const char* word(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::flag: return "flag";
    case ParameterKind::integer: return "integer";
    case ParameterKind::real: return "real";
    case ParameterKind::reals: return "reals";
    case ParameterKind::grid: return "grid";
    case ParameterKind::word: return "word";
    case ParameterKind::text: return "text";
  }
  return "text";
}

py::dict to_python(const Parameter& parameter) {
  py::dict out;
  out["name"] = field_name(parameter.name);
  out["kind"] = word(parameter.kind);
  out["text"] = parameter.text;
  out["allowed"] = parameter.allowed();
  out["required"] = parameter.required;
  out["default"] = onset::python::to_python(parameter.fallback);
  out["words"] = parameter.words;
  out["operand"] = parameter.operand;
  out["folder"] = parameter.folder;
  return out;
}

py::dict to_python(const Verb& verb) {
  py::list parameters;
  for (const Parameter& parameter : verb.parameters) parameters.append(to_python(parameter));
  py::list rows;
  for (const RowKind& kind : verb.rows) {
    rows.append(py::make_tuple(kind.when, onset::python::to_python(kind.columns)));
  }
  py::dict out;
  out["family"] = verb.family;
  out["name"] = verb.name;
  out["summary"] = verb.summary;
  out["details"] = verb.details;
  out["parameters"] = parameters;
  out["rows"] = rows;
  return out;
}

py::list verbs() {
  py::list out;
  for (const Verb& verb : catalog()) out.append(to_python(verb));
  return out;
}

/// The request with the user's own link in place of a named one, where there is one. Python's lock
/// is given back meanwhile: a model may ask a link of one's own from several threads.
Call settle(const Verb& verb, const py::dict& given, const std::shared_ptr<OwnLink>& link) {
  const auto values = to_values(given);
  const py::gil_scoped_release release;
  if (!link) return verb.settle(values);
  const smi::OwnModel own([link] { return own_link_model(link); });
  Call call = verb.settle(values);
  if (!own.used()) {
    throw InvalidArgument("link",
                          "a link of one's own has no meaning here; allowed: in smi thresholds, "
                          "curve, potential, amp and generate, without `layers` and the like");
  }
  return call;
}

py::dict explain(const std::string& family, const std::string& name, const py::dict& given,
                 const std::shared_ptr<OwnLink>& link) {
  const Call call = settle(find_verb(family, name), given, link);
  py::dict out;
  out["method"] = call.cost.method;
  out["core_seconds"] = call.cost.core_seconds;
  out["memory_bytes"] = call.cost.memory_bytes;
  out["caution"] = call.cost.caution;
  out["parameters"] = onset::python::to_python(call.parameters);
  return out;
}

Answer run_verb(const std::string& family, const std::string& name, const py::dict& given,
                const std::shared_ptr<OwnLink>& link, const How& how) {
  how.check();
  const Verb& verb = find_verb(family, name);
  const Call call = settle(verb, given, link);
  Answer answer;
  answer.record.command = verb.full_name();
  answer.record.method = verb.method;
  answer.record.parameters = call.parameters;
  answer.primary = verb.primary;
  answer.threads = how.thread_count();
  const auto start = std::chrono::steady_clock::now();
  bool late = false;
  try {
    late = in_background(how, [&](const Context& context) {
      answer.record.result = onset::run(verb, call, context);
    });
  } catch (...) {
    if (link) link->rethrow();
    throw;
  }
  answer.record.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (late && answer.record.result.status == ResultStatus::interrupted) {
    answer.record.result.reason =
        fmt::format("the time limit of {} s (`max_seconds`) was reached", *how.max_seconds);
  }
  return answer;
}

}  // namespace

void add_catalogue(py::module_& module) {
  module.def("verbs", &verbs);
  module.def("explain", &explain);
  module.def("run", [](const std::string& family, const std::string& name, const py::dict& given,
                       const std::shared_ptr<OwnLink>& link, std::optional<int> threads,
                       std::optional<double> max_seconds, const py::object& progress) {
    return run_verb(family, name, given, link, {threads, max_seconds, progress});
  });
  module.def("suggestion", [](const std::string& word, const std::vector<std::string>& words) {
    return suggestion(word, words);
  });
  module.def("concise", [](double value, double error) { return io::concise({value, error}); });
}

}  // namespace onset::python
