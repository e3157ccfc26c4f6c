#include <algorithm>

#include "report/figure/figure_reader.hpp"
#include "study/plan/study_reader.hpp"

namespace onset::report {
namespace {

/// Puts an entry of `quick` or `full` in the place of the axis, the tie or the fixed value of that
/// name.
void replace(study::Study& study, const io::TomlReader& other, const std::string& name) {
  const auto axis = std::find_if(study.axes.begin(), study.axes.end(),
                                 [&](const study::Axis& a) { return a.parameter == name; });
  const auto tie = std::find_if(study.tied.begin(), study.tied.end(),
                                [&](const study::Tie& t) { return t.parameter == name; });
  if (axis != study.axes.end()) {
    *axis = study::read_axis(other, name);
  } else if (tie != study.tied.end()) {
    *tie = {name, other.text(name), other.place_of(name)};
  } else {
    study.fixed[name] = other.value(name);
    study.places[name] = other.place_of(name);
  }
}

/// The study with the values of the table `key` in place of its own.
study::Study changed_study(const io::TomlReader& run, const char* key, study::Study study) {
  const std::optional<io::TomlReader> other = run.table(key);
  if (!other) return study;
  for (const std::string& name : other->keys()) {
    if (name == "seeds") {
      study.seeds = study::read_seeds(*other);
      study.places[name] = other->place_of(name);
    } else {
      replace(study, *other, name);
    }
  }
  return study;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), plain);
}

FigureRun read_run(const io::TomlReader& in) {
  in.allow_only(
      {"id", "command", "fixed", "axes", "tied", "seeds", "quick", "full", "as_published"});
  FigureRun run;
  run.id = in.text("id");
  if (!is_plain_name(run.id)) {
    io::complain(in.place_of("id"), "an id has letters, digits, '-' and '_' only");
  }
  run.study = study::read_study_keys(in);
  run.study.name = run.id;
  run.quick = changed_study(in, "quick", run.study);
  run.full = changed_study(in, "full", run.study);
  run.as_published = in.flag("as_published");
  return run;
}

}  // namespace onset::report
