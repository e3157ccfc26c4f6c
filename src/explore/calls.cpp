#include "explore/calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/field_names.hpp"
#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "io/json_record.hpp"
#include "onset/core/error.hpp"
#include "report/point_text.hpp"
#include "report/study_text.hpp"

namespace onset::explore {
namespace {

const Verb& verb_named(const std::string& command, std::span<const Verb> verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (verb.full_name() == command) return verb;
    names.push_back(verb.full_name());
  }
  throw InvalidArgument("command",
                        in_quotes(command) + " is not known" + suggestion(command, names));
}

/// A range stays as it was typed, where a list of its points would be hard to read.
Value shown_value(const Parameter& parameter, const Value& value, const std::string& text) {
  const bool range = parameter.kind == ParameterKind::grid && text.find(':') != std::string::npos;
  return range ? Value(text) : value;
}

std::string python_string(const std::string& text) {
  // JSON's escapes are Python's too; ASCII alone leaves nothing that an editor could spoil.
  return io::json_line(text, io::JsonLetters::ascii);
}

std::string python_value(const Value& value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool flag) const { return flag ? "True" : "False"; }
    std::string operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
    std::string operator()(double real) const { return fmt::format("{}", real); }
    std::string operator()(const std::vector<double>& list) const {
      return fmt::format("[{}]", fmt::join(list, ", "));
    }
    std::string operator()(const std::string& text) const { return python_string(text); }
  };
  return std::visit(Writer{}, value);
}

Json cost_json(const Cost& cost) {
  return {{"method", with_keys(cost.method)},
          {"core_seconds", cost.core_seconds},
          {"memory_bytes", cost.memory_bytes},
          {"caution", with_keys(cost.caution)}};
}

study::Study study_of(const CallRequest& call) {
  study::Study study;
  study.command = call.verb->full_name();
  study.fixed = call.shown;
  return study;
}

ResultStatus result_status(study::PointStatus status) {
  switch (status) {
    case study::PointStatus::ok: return ResultStatus::ok;
    case study::PointStatus::unconverged: return ResultStatus::unconverged;
    case study::PointStatus::refused:
    case study::PointStatus::failed: break;
  }
  return ResultStatus::refused;
}

}  // namespace

const Parameter& find_parameter(const Verb& verb, const std::string& name) {
  std::vector<std::string> names;
  for (const Parameter& parameter : verb.parameters) {
    if (parameter.name == name) return parameter;
    names.push_back(parameter.name);
  }
  throw InvalidArgument(printable(name), "no such parameter" + suggestion(name, names));
}

CallRequest read_call(const Json& body, std::span<const Verb> verbs) {
  if (!body.is_object() || !body.contains("command") || !body["command"].is_string()) {
    throw InvalidArgument("command", "is missing; allowed: the name of a verb");
  }
  CallRequest call;
  call.verb = &verb_named(body["command"].get<std::string>(), verbs);
  if (!body.contains("given")) return call;
  if (!body["given"].is_object()) {
    throw InvalidArgument("given", "is no object; allowed: names with the texts of their values");
  }
  for (const auto& [name, text] : body["given"].items()) {
    const Parameter& parameter = find_parameter(*call.verb, name);
    if (!text.is_string()) {
      throw InvalidArgument(name, "is not given as text; allowed: " + parameter.allowed());
    }
    const auto& typed = text.get_ref<const std::string&>();
    Value value = parse_value(parameter, typed);
    call.shown[name] = shown_value(parameter, value, typed);
    call.given[name] = std::move(value);
  }
  return call;
}

std::string python_text(const CallRequest& call) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : call.shown) {
    arguments.push_back(fmt::format("{}={}", field_name(name), python_value(value)));
  }
  return fmt::format("import onset\nresult = onset.{}.{}({})\n", call.verb->family,
                     field_name(call.verb->name), fmt::join(arguments, ", "));
}

Json settled_json(const CallRequest& call) {
  const Call settled = call.verb->settle(call.given);
  Parameters shown;
  for (const auto& [name, value] : call.shown) shown.set(name, value);
  Json parameters = Json::object();
  for (const auto& [name, value] : settled.parameters.values()) {
    parameters[name] = io::detail::value_json(value);
  }
  return {{"command", call.verb->full_name()},
          {"parameters", std::move(parameters)},
          {"cost", cost_json(settled.cost)},
          {"shell", report::command_line(call.verb->full_name(), shown, call.verb)},
          {"toml", report::study_text(study_of(call))},
          {"python", python_text(call)}};
}

Json result_json(const study::PointRecord& record, std::string_view status) {
  io::RunRecord run{record.command, record.parameters, record.method, record.seconds, {}};
  run.result.table = record.table;
  run.result.summary = record.summary;
  run.result.status = result_status(record.status);
  run.result.reason = with_keys(record.reason);
  for (const std::string& note : record.notes) run.result.notes.push_back(with_keys(note));
  Json out = io::detail::record_json(run);
  // Neither a run whose process failed nor one under way is ever printed as JSON by the command.
  out["status"] = std::string(status);
  return {{"columns", io::detail::columns_json(record.table.columns())},
          {"record", std::move(out)}};
}

Json result_json(const study::PointRecord& record) {
  return result_json(record, to_string(record.status));
}

}  // namespace onset::explore
