#include "explore/studies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "explore/calls.hpp"
#include "onset/core/error.hpp"
#include "report/study_text.hpp"

namespace onset::explore {
namespace {

constexpr std::size_t longest_name = 60;

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> items;
  for (;;) {
    const std::size_t end = text.find(',');
    items.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return items;
    text.remove_prefix(end + 1);
  }
}

bool is_number(const Parameter& parameter) {
  return parameter.kind == ParameterKind::integer || parameter.kind == ParameterKind::real ||
         parameter.kind == ParameterKind::reals || parameter.kind == ParameterKind::grid;
}

/// The numbers of an axis, read as a grid is: each must be one that the parameter takes.
std::vector<Value> number_values(const Parameter& parameter, const std::string& text) {
  Parameter grid = parameter;
  grid.kind = ParameterKind::grid;
  grid.whole = parameter.whole || parameter.kind == ParameterKind::integer;
  const Value numbers = parse_value(grid, text);
  const bool whole = parameter.kind == ParameterKind::integer;
  std::vector<Value> values;
  for (const double x : std::get<std::vector<double>>(numbers)) {
    if (whole) {
      values.emplace_back(std::int64_t{std::llround(x)});
    } else {
      values.emplace_back(x);
    }
  }
  return values;
}

std::vector<Value> axis_values(const Parameter& parameter, const std::string& text) {
  if (is_number(parameter)) return number_values(parameter, text);
  std::vector<Value> values;
  for (const std::string& item : comma_list(text)) values.push_back(parse_value(parameter, item));
  return values;
}

std::vector<study::Axis> read_axes(const Json& axes, const Verb& verb) {
  std::vector<study::Axis> out;
  std::size_t points = 1;
  for (const auto& [name, text] : axes.items()) {
    if (!text.is_string()) {
      throw InvalidArgument(name, "is not given as text; allowed: its values");
    }
    const Parameter& parameter = find_parameter(verb, name);
    out.push_back({name, axis_values(parameter, text.get<std::string>())});
    points *= std::max<std::size_t>(out.back().values.size(), 1);
    if (points > max_composed_points) {
      throw InvalidArgument(name, fmt::format("makes more than {} points; allowed here: fewer, or "
                                              "a study file of your own",
                                              max_composed_points));
    }
  }
  return out;
}

std::vector<study::Tie> read_ties(const Json& ties, const Verb& verb) {
  std::vector<study::Tie> out;
  for (const auto& [name, expression] : ties.items()) {
    if (!expression.is_string()) {
      throw InvalidArgument(name, "is not given as text; allowed: an expression");
    }
    out.push_back({find_parameter(verb, name).name, expression.get<std::string>()});
  }
  return out;
}

/// The object of that name in a request; nothing where there is none.
const Json* object_in(const Json& body, const char* name) {
  if (!body.contains(name)) return nullptr;
  if (!body[name].is_object()) {
    throw InvalidArgument(name, "is no object; allowed: names with texts");
  }
  return &body[name];
}

}  // namespace

std::string study_name(const Json& body) {
  const bool given = body.is_object() && body.contains("name") && body["name"].is_string();
  std::string name = given ? body["name"].get<std::string>() : std::string();
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (name.empty() || name.size() > longest_name || name.front() == '-' ||
      !std::all_of(name.begin(), name.end(), allowed)) {
    throw InvalidArgument(
        "name", fmt::format("allowed: at most {} small letters, digits and hyphens", longest_name));
  }
  return name;
}

ComposedStudy compose_study(const Json& body, const std::string& name,
                            std::span<const Verb> verbs) {
  const CallRequest call = read_call(body, verbs);
  study::Study study;
  study.command = call.verb->full_name();
  study.fixed = call.shown;
  if (const Json* axes = object_in(body, "axes")) study.axes = read_axes(*axes, *call.verb);
  if (const Json* ties = object_in(body, "tied")) study.tied = read_ties(*ties, *call.verb);
  ComposedStudy out;
  out.text = report::study_text(study);
  out.plan = study::make_plan(study::parse_study(out.text, name + ".toml"), verbs);
  return out;
}

Json composed_json(const ComposedStudy& study) {
  double core_seconds = 0.0;
  for (const study::Point& point : study.plan.points) core_seconds += point.core_seconds;
  return {
      {"toml", study.text}, {"points", study.plan.points.size()}, {"core_seconds", core_seconds}};
}

}  // namespace onset::explore
