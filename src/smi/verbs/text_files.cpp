#include "smi/verbs/text_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/prose.hpp"
#include "io/label_file.hpp"
#include "onset/core/error.hpp"
#include "smi/learners/vocabulary.hpp"

namespace onset::smi {
namespace {

using io::LabelledText;

/// FNV-1a with 64 bits: tells data sets apart, keeps no secret.
class Fingerprint {
 public:
  void add(std::string_view text) {
    constexpr std::uint64_t prime = 0x100000001b3;
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * prime;
    value_ = (value_ ^ std::uint64_t{'\n'}) * prime;
  }
  [[nodiscard]] std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::string fingerprint_of(const std::vector<LabelledText>& train,
                           const std::vector<LabelledText>& test) {
  Fingerprint fingerprint;
  const auto add = [&](const std::vector<LabelledText>& questions, std::string_view name) {
    for (const LabelledText& question : questions) {
      fingerprint.add(question.fine);
      fingerprint.add(question.text);
    }
    fingerprint.add(name);
  };
  add(train, "train");
  add(test, "test");
  return fingerprint.text();
}

const std::string& label_of(const LabelledText& question, TextLabels labels) {
  return labels == TextLabels::fine ? question.fine : question.coarse;
}

std::vector<std::string> classes_of(const std::vector<LabelledText>& questions,
                                    const Text& request) {
  std::vector<std::string> classes;
  for (const LabelledText& question : questions) {
    const std::string& label = label_of(question, request.labels);
    if (std::find(classes.begin(), classes.end(), label) == classes.end()) {
      classes.push_back(label);
    }
  }
  if (classes.size() < 2) {
    throw IoError(request.train, prose(R"(
    all questions are of the class {}; allowed: two classes or more)",
                                       classes.front()));
  }
  return classes;
}

std::vector<TextExample> examples_of(const std::vector<LabelledText>& questions,
                                     const std::string& file, const Text& request,
                                     const std::vector<std::string>& classes,
                                     const Vocabulary& vocabulary) {
  std::vector<TextExample> list;
  for (const LabelledText& question : questions) {
    const std::string& label = label_of(question, request.labels);
    const auto found = std::find(classes.begin(), classes.end(), label);
    if (found == classes.end()) {
      throw IoError(io::place_of(file, question),
                    fmt::format("class {} has no question in {}; allowed: {}", label, request.train,
                                fmt::join(classes, ", ")));
    }
    list.push_back({found - classes.begin(), vocabulary.numbers(question.text)});
    if (list.back().words.empty()) {
      throw IoError(io::place_of(file, question), "has no word; allowed: one or more");
    }
  }
  return list;
}

}  // namespace

TextFiles read_text_files(const Text& request) {
  const std::vector<LabelledText> train = io::read_label_file(request.train);
  const std::vector<LabelledText> test = io::read_label_file(request.test);
  std::vector<std::string> texts;
  for (const LabelledText& question : train) texts.push_back(question.text);
  const Vocabulary vocabulary(texts, request.min_count);
  TextFiles files;
  files.fingerprint = fingerprint_of(train, test);
  files.classes = classes_of(train, request);
  TextCorpus& corpus = files.corpus;
  corpus.classes = static_cast<std::int64_t>(files.classes.size());
  corpus.words = vocabulary.size();
  corpus.train = examples_of(train, request.train, request, files.classes, vocabulary);
  corpus.test = examples_of(test, request.test, request, files.classes, vocabulary);
  for (const auto* questions : {&corpus.train, &corpus.test}) {
    for (const TextExample& question : *questions) {
      files.longest = std::max(files.longest, question.words.size());
    }
  }
  return files;
}

}  // namespace onset::smi
