#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/field_names.hpp"
#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "onset/core/error.hpp"
#include "onset/study/study.hpp"
#include "study/plan/tie.hpp"

namespace onset::study {

using io::complain;

namespace {

const Verb& find_command(const Study& study, std::span<const Verb> verbs, const io::Place& place) {
  std::vector<std::string> known;
  for (const Verb& verb : verbs) {
    if (verb.full_name() == study.command && verb.needs_folder) {
      complain(place, fmt::format("'{}' is there for the files that it writes, which a store does "
                                  "not hold; run 'onset {} --out DIR' by itself",
                                  study.command, study.command));
    }
    if (verb.full_name() == study.command) return verb;
    if (!verb.needs_folder) known.push_back(verb.full_name());
  }
  const std::string nearest = suggestion(study.command, known);
  complain(place,
           fmt::format(
               "there is no command {}{}", in_quotes(study.command),
               nearest.empty() ? fmt::format("; known are {}", fmt::join(known, ", ")) : nearest));
}

/// The message of a bad value, in the words of a study file.
std::string message_of(const InvalidArgument& error) {
  return parameter_name(error.field()) + ": " + with_keys(error.message());
}

/// Builds the plan of one study; every check knows the place that it complains about.
class Planner {
 public:
  Planner(const Study& study, std::span<const Verb> verbs)
      : study_(study),
        verb_(find_command(study, verbs, place_of("command"))),
        parameters_(verb_.parameters) {}

  Plan plan() {
    read_fixed();
    read_axes();
    read_ties();
    Plan plan;
    plan.study = study_;
    plan.verb = &verb_;
    for (const Axis& axis : axes_) plan.axes.push_back(axis.parameter);
    for (const TiedParameter& tied : tied_) plan.axes.push_back(tied.name());
    plan.points = points();
    return plan;
  }

 private:
  [[nodiscard]] const io::Place& place_of(const std::string& entry) const {
    const auto found = study_.places.find(entry);
    return found == study_.places.end() ? study_.place : found->second;
  }

  static const io::Place& place_of(const Axis& axis, std::size_t value) {
    return axis.value_places.empty() ? axis.place : axis.value_places[value];
  }

  [[nodiscard]] const Parameter& find(const std::string& name, const io::Place& place) const {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters_) {
      if (parameter.name == name) return parameter;
      names.push_back(parameter.name);
    }
    const std::string nearest = suggestion(name, names);
    complain(place, fmt::format("'{}' has no parameter {}{}", study_.command, in_quotes(name),
                                nearest.empty() ? fmt::format("; it has {}", fmt::join(names, ", "))
                                                : nearest));
  }

  /// The value as the verb will see it.
  [[nodiscard]] Value checked(const std::string& name, const Value& value,
                              const io::Place& place) const {
    const Parameter& parameter = find(name, place);
    if (parameter.folder) {
      complain(place, fmt::format("'{}' names a folder, whose content a store cannot know; run "
                                  "'onset {}' by itself",
                                  name, study_.command));
    }
    try {
      return complete({&parameter, 1}, {{name, value}}).values().at(name);
    } catch (const InvalidArgument& error) {
      complain(place, message_of(error));
    }
  }

  void read_fixed() {
    for (const auto& [name, value] : study_.fixed) {
      fixed_[name] = checked(name, value, place_of(name));
    }
  }

  void read_axes() {
    for (const Axis& axis : study_.axes) add_axis(axis);
    if (study_.seeds.empty()) return;
    Axis seeds{"seed", {}, place_of("seeds"), {}};
    seeds.values.assign(study_.seeds.begin(), study_.seeds.end());
    add_axis(seeds);
  }

  void refuse_fixed(const std::string& parameter, const io::Place& place) const {
    if (!fixed_.contains(parameter)) return;
    complain(place, fmt::format("'{}' is in [fixed] as well", parameter));
  }

  void add_axis(Axis axis) {
    if (axis.values.empty()) {
      complain(axis.place, fmt::format("the axis '{}' is empty", axis.parameter));
    }
    (void)find(axis.parameter, axis.place);
    refuse_fixed(axis.parameter, axis.place);
    for (const Axis& other : axes_) {
      if (other.parameter == axis.parameter) {
        complain(axis.place, fmt::format("a second axis '{}'", axis.parameter));
      }
    }
    std::set<Value> seen;  // a value given twice would make two points with one key
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
      axis.values[i] = checked(axis.parameter, axis.values[i], place_of(axis, i));
      if (!seen.insert(axis.values[i]).second) {
        complain(place_of(axis, i), fmt::format("the axis '{}' has the value {} twice",
                                                axis.parameter, to_text(axis.values[i])));
      }
    }
    axes_.push_back(std::move(axis));
  }

  void read_ties() {
    const std::vector<std::string> numbers = numbers_of_points();
    for (const Tie& tie : study_.tied) {
      const Parameter& parameter = find(tie.parameter, tie.place);
      refuse_fixed(tie.parameter, tie.place);
      for (const Axis& axis : axes_) {
        if (axis.parameter != tie.parameter) continue;
        complain(tie.place, fmt::format("'{}' is an axis as well", tie.parameter));
      }
      tied_.emplace_back(tie, parameter, numbers);
    }
  }

  /// What the expressions of ties may use: the parameters that are numbers at every point.
  [[nodiscard]] std::vector<std::string> numbers_of_points() const {
    std::vector<std::string> out;
    for (const auto& [name, value] : fixed_) {
      if (is_number(value)) out.push_back(name);
    }
    for (const Axis& axis : axes_) {
      if (std::all_of(axis.values.begin(), axis.values.end(), is_number)) {
        out.push_back(axis.parameter);
      }
    }
    return out;
  }

  [[nodiscard]] std::size_t point_count() const {
    std::size_t count = 1;
    for (const Axis& axis : axes_) {
      if (axis.values.size() > max_points / count) {
        complain(study_.place, fmt::format("the study has more than {} points", max_points));
      }
      count *= axis.values.size();
    }
    return count;
  }

  [[nodiscard]] std::vector<Point> points() const {
    const std::size_t count = point_count();
    std::vector<Point> out;
    out.reserve(count);
    std::set<std::string> keys;
    for (std::size_t position = 0; position < count; ++position) {
      out.push_back(settled(choice_at(position)));
      if (!keys.insert(out.back().key).second) {
        complain(study_.place, fmt::format("point {} is the same as an earlier one: its axes "
                                           "differ, but what is computed does not",
                                           position + 1));
      }
    }
    return out;
  }

  /// Which value of every axis a point has; the last axis varies fastest.
  [[nodiscard]] std::vector<std::size_t> choice_at(std::size_t position) const {
    std::vector<std::size_t> choice(axes_.size());
    for (std::size_t i = axes_.size(); i-- > 0;) {
      choice[i] = position % axes_[i].values.size();
      position /= axes_[i].values.size();
    }
    return choice;
  }

  /// The point as the command would settle it: fields that depend on an axis are filled for its
  /// value.
  [[nodiscard]] Point settled(const std::vector<std::size_t>& choice) const {
    Point point;
    std::map<std::string, Value> given = fixed_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      point.axis_values.push_back(axes_[i].values[choice[i]]);
      given[axes_[i].parameter] = point.axis_values.back();
    }
    const std::map<std::string, Value> untied = given;
    for (const TiedParameter& tied : tied_) {
      point.axis_values.push_back(tied.at(untied));
      given[tied.name()] = point.axis_values.back();
    }
    try {
      Call call = verb_.settle(given);
      point.parameters = std::move(call.parameters);
      point.core_seconds = call.cost.core_seconds;
      point.memory_bytes = call.cost.memory_bytes;
    } catch (const InvalidArgument& error) {
      complain(place_of_field(error.field(), choice), message_of(error));
    }
    point.key = identity(verb_, point.parameters);
    return point;
  }

  /// Where the value of a field stands that a point was refused for.
  [[nodiscard]] const io::Place& place_of_field(const std::string& field,
                                                const std::vector<std::size_t>& choice) const {
    const std::string name = parameter_name(field);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].parameter == name) return place_of(axes_[i], choice[i]);
    }
    for (const TiedParameter& tied : tied_) {
      if (tied.name() == name) return tied.place();
    }
    return place_of(name);
  }

  const Study& study_;
  const Verb& verb_;
  std::vector<Parameter> parameters_;
  std::map<std::string, Value> fixed_;
  std::vector<Axis> axes_;
  std::vector<TiedParameter> tied_;
};

}  // namespace

Plan make_plan(const Study& study, std::span<const Verb> verbs) {
  return Planner(study, verbs).plan();
}

}  // namespace onset::study
