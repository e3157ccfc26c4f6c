#include "onset/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "aim/verbs.hpp"
#include "core/printable.hpp"
#include "core/suggestion.hpp"
#include "mha/verbs.hpp"
#include "onset/core/error.hpp"
#include "smi/verbs.hpp"
#include "ssi/verbs.hpp"

namespace onset {
namespace {

std::vector<Verb> every_verb() {
  std::vector<Verb> all;
  const auto append = [&all](std::vector<Verb> verbs) {
    std::move(verbs.begin(), verbs.end(), std::back_inserter(all));
  };
  append(smi::verbs());
  append(aim::verbs());
  append(ssi::verbs());
  append(mha::verbs());
  return all;
}

[[noreturn]] void no_such(const std::string& field, std::string_view what, std::string_view word,
                          const std::vector<std::string>& words) {
  throw InvalidArgument(printable(field),
                        fmt::format("no such {}; allowed: {}{}", what, fmt::join(words, ", "),
                                    suggestion(word, words)));
}

}  // namespace

std::span<const Verb> catalog() {
  static const std::vector<Verb> verbs = every_verb();
  return verbs;
}

const Verb& find_verb(std::string_view family, std::string_view name) {
  std::vector<std::string> families;
  std::vector<std::string> names;
  for (const Verb& verb : catalog()) {
    if (verb.family == family && verb.name == name) return verb;
    if (verb.family == family) names.push_back(verb.name);
    if (families.empty() || families.back() != verb.family) families.push_back(verb.family);
  }
  if (names.empty()) no_such(std::string(family), "family", family, families);
  no_such(fmt::format("{} {}", family, name), "verb", name, names);
}

}  // namespace onset
