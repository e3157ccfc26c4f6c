#include "report/html/study_view.hpp"

#include <map>

#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"

namespace onset::report::html {

std::optional<study::Study> read_definition(const std::string& source, const std::string& name) {
  try {
    return study::parse_study(source, name + ".toml");
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

std::vector<StudyView::Count> StudyView::counts() const {
  std::map<std::string_view, std::size_t> by_word;
  for (const auto& record : records) {
    ++by_word[record ? to_string(record->status) : std::string_view("missing")];
  }
  std::vector<Count> out;
  for (const std::string_view word : {"ok", "unconverged", "refused", "failed", "missing"}) {
    if (by_word.contains(word)) out.push_back({std::string(word), by_word[word]});
  }
  return out;
}

StudyView view_of(const study::StudyRecord& study, const study::Store& store,
                  std::span<const Verb> verbs) {
  StudyView view;
  view.study = study;
  for (const Verb& verb : verbs) {
    if (verb.full_name() == study.command) view.verb = &verb;
  }
  view.definition = read_definition(study.source, study.name);
  for (const auto& point : study.points) view.records.push_back(store.find(point.key));
  view.table = study_table(study, store);
  return view;
}

}  // namespace onset::report::html
