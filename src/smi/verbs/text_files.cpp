#include "smi/verbs/text_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "onset/core/error.hpp"
#include "onset/io/label_file.hpp"
#include "onset/smi/learners/vocabulary.hpp"

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

const std::string& label_of(const LabelledText& question, const Parameters& p) {
  return p.text("labels") == "fine" ? question.fine : question.coarse;
}

std::vector<std::string> classes_of(const std::vector<LabelledText>& questions,
                                    const Parameters& p) {
  std::vector<std::string> classes;
  for (const LabelledText& question : questions) {
    const std::string& label = label_of(question, p);
    if (std::find(classes.begin(), classes.end(), label) == classes.end()) {
      classes.push_back(label);
    }
  }
  if (classes.size() < 2) {
    throw IoError(p.text("train"), fmt::format("all questions are of the class {}; allowed: two "
                                               "classes or more",
                                               classes.front()));
  }
  return classes;
}

std::vector<TextExample> examples_of(const std::vector<LabelledText>& questions,
                                     const Parameters& p, const std::string& file,
                                     const TextFiles& files, const Vocabulary& vocabulary) {
  std::vector<TextExample> list;
  for (const LabelledText& question : questions) {
    const std::string& label = label_of(question, p);
    const auto found = std::find(files.classes.begin(), files.classes.end(), label);
    if (found == files.classes.end()) {
      throw IoError(io::place_of(file, question),
                    fmt::format("class {} has no question in {}; allowed: {}", label,
                                p.text("train"), fmt::join(files.classes, ", ")));
    }
    list.push_back({found - files.classes.begin(), vocabulary.numbers(question.text)});
    if (list.back().words.empty()) {
      throw IoError(io::place_of(file, question), "has no word; allowed: one or more");
    }
  }
  return list;
}

}  // namespace

TextFiles read_text_files(const Parameters& p) {
  const std::vector<LabelledText> train = io::read_label_file(p.text("train"));
  const std::vector<LabelledText> test = io::read_label_file(p.text("test"));
  std::vector<std::string> texts;
  for (const LabelledText& question : train) texts.push_back(question.text);
  const Vocabulary vocabulary(texts, p.integer("min-count"));
  TextFiles files;
  files.classes = classes_of(train, p);
  files.corpus.classes = static_cast<std::int64_t>(files.classes.size());
  files.corpus.words = vocabulary.size();
  files.corpus.train = examples_of(train, p, p.text("train"), files, vocabulary);
  files.corpus.test = examples_of(test, p, p.text("test"), files, vocabulary);
  return files;
}

void read_fingerprint(Parameters& p) {
  Fingerprint fingerprint;
  for (const char* name : {"train", "test"}) {
    for (const LabelledText& question : io::read_label_file(p.text(name))) {
      fingerprint.add(question.fine);
      fingerprint.add(question.text);
    }
    fingerprint.add(name);
  }
  const std::string found = fingerprint.text();
  if (p.has("fingerprint") && p.text("fingerprint") != found) {
    throw InvalidArgument("--fingerprint", fmt::format("these files have {}, not {}; allowed: the "
                                                       "files that the number was made from",
                                                       found, p.text("fingerprint")));
  }
  p.set("fingerprint", found);
}

}  // namespace onset::smi
