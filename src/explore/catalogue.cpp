#include "explore/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "core/field_names.hpp"
#include "io/json_record.hpp"
#include "onset/version.hpp"

namespace onset::explore {
namespace {

struct Question {
  std::string_view text;
  std::vector<std::string_view> verbs;
};

/// What people come with, in the order in which a model is usually explored. A verb that is in none
/// of the lists is shown under `other_question`, so a new one is never missing from the page.
const std::vector<Question>& questions() {
  static const std::vector<Question> all = {
      {"When does learning start?",
       {"smi thresholds", "aim thresholds", "ssi sie", "smi exponent", "smi spectral"}},
      {"How well can it be learned?",
       {"aim curve", "smi curve", "aim spectrum", "smi potential", "aim potential", "aim erm"}},
      {"Where does gradient descent go?",
       {"ssi loss", "ssi phase", "ssi flow", "ssi sgd", "ssi gain", "ssi scaling", "aim flow",
        "aim sgd", "aim gd", "smi sgd"}},
      {"What does message passing reach?", {"aim amp", "smi amp", "smi evolution"}},
      {"Can a layer be learned from examples, and is that certain?",
       {"mha trial", "mha learn", "mha inspect", "mha verify", "mha evaluate", "mha baseline"}},
      {"Which layer is learned first on real text?", {"smi text"}},
      {"How do I draw data for a program of my own?",
       {"smi generate", "aim generate", "mha generate"}},
  };
  return all;
}

constexpr std::string_view other_question = "What else is there?";

std::string_view kind_word(ParameterKind kind) {
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

Json bound(double x) {
  return std::isfinite(x) ? Json(x) : Json(nullptr);
}

Json parameter_json(const Parameter& parameter) {
  const bool none = std::holds_alternative<std::monostate>(parameter.fallback);
  Json out = {{"name", parameter.name},
              {"kind", kind_word(parameter.kind)},
              {"default", none ? Json(nullptr) : Json(to_text(parameter.fallback))},
              {"required", parameter.required},
              {"text", with_keys(parameter.text)},
              {"allowed", parameter.allowed()},
              {"min", bound(parameter.min)},
              {"max", bound(parameter.max)},
              {"open_min", parameter.open_min},
              {"whole", parameter.whole || parameter.kind == ParameterKind::integer},
              {"folder", parameter.folder}};
  if (!parameter.words.empty()) out["words"] = parameter.words;
  return out;
}

Json verb_json(const Verb& verb) {
  Json parameters = Json::array();
  for (const Parameter& parameter : verb.parameters)
    parameters.push_back(parameter_json(parameter));
  Json rows = Json::array();
  for (const RowKind& kind : verb.rows) {
    rows.push_back({{"when", kind.when}, {"columns", io::detail::columns_json(kind.columns)}});
  }
  return {{"command", verb.full_name()},
          {"summary", verb.summary},
          {"details", with_keys(verb.details)},
          {"primary", verb.primary},
          {"needs_folder", verb.needs_folder},
          {"method", verb.method},
          {"examples", verb.examples},
          {"parameters", std::move(parameters)},
          {"rows", std::move(rows)}};
}

}  // namespace

Json catalogue_json(std::span<const Verb> verbs, int threads) {
  std::set<std::string> shown;
  Json groups = Json::array();
  for (const Question& question : questions()) {
    Json members = Json::array();
    for (const std::string_view name : question.verbs) {
      const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                     [&](const Verb& one) { return one.full_name() == name; });
      if (verb == verbs.end()) continue;
      shown.insert(verb->full_name());
      members.push_back(verb_json(*verb));
    }
    if (!members.empty()) {
      groups.push_back({{"question", question.text}, {"verbs", std::move(members)}});
    }
  }
  Json others = Json::array();
  for (const Verb& verb : verbs) {
    if (!shown.contains(verb.full_name())) others.push_back(verb_json(verb));
  }
  if (!others.empty()) {
    groups.push_back({{"question", other_question}, {"verbs", std::move(others)}});
  }
  return {{"onset", version()}, {"threads", threads}, {"questions", std::move(groups)}};
}

}  // namespace onset::explore
