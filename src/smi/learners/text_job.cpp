#include "smi/learners/text_job.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <istream>
#include <sstream>
#include <stdexcept>

namespace onset::smi {
namespace {

/// The first word of a job, by which the two programs check that they belong together.
constexpr const char* job_format = "onset-text-job-1";

constexpr std::array kind_words{"at", "row", "similarity", "finished", "diverged"};

void append_examples(std::string& out, const std::vector<TextExample>& examples) {
  out += fmt::format("{}\n", examples.size());
  for (const TextExample& example : examples) {
    out += fmt::format("{} {} {}\n", example.label, example.words.size(),
                       fmt::join(example.words, " "));
  }
}

template <class T>
T read(std::istream& in) {
  T value{};
  if (!(in >> value)) throw std::runtime_error("a word is missing or is no number");
  return value;
}

/// Reads a number, infinity included: streams do not read back what they write for it.
double read_number(std::istream& in) {
  const auto word = read<std::string>(in);
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end != word.c_str() + word.size()) throw std::runtime_error("no number: " + word);
  return value;
}

std::vector<TextExample> read_examples(std::istream& in) {
  std::vector<TextExample> examples(read<std::size_t>(in));
  for (TextExample& example : examples) {
    example.label = read<std::int64_t>(in);
    example.words.resize(read<std::size_t>(in));
    for (std::int64_t& word : example.words) word = read<std::int64_t>(in);
  }
  return examples;
}

TextMessage::Kind read_kind(std::istream& in) {
  const auto word = read<std::string>(in);
  for (std::size_t k = 0; k < kind_words.size(); ++k) {
    if (word == kind_words[k]) return static_cast<TextMessage::Kind>(k);
  }
  throw std::runtime_error("no message: " + word);
}

}  // namespace

std::string write_job(const TextJob& job) {
  const TextOptions& o = job.options;
  std::string out = fmt::format("{} {}\n", job_format, job.threads);
  for (const std::int64_t field : {o.embedding, o.layers, o.width, o.batch, o.epochs,
                                   o.record_every, o.runs, job.corpus.classes, job.corpus.words}) {
    out += fmt::format("{}\n", field);
  }
  for (const double field : {o.skip, o.weight_scale, o.embedding_scale, o.rate, o.decay}) {
    out += fmt::format("{}\n", field);
  }
  out += fmt::format("{}\n", o.seed);
  append_examples(out, job.corpus.train);
  append_examples(out, job.corpus.test);
  return out;
}

TextJob read_job(std::istream& in) {
  if (read<std::string>(in) != job_format) throw std::runtime_error("a job of another version");
  TextJob job;
  job.threads = read<int>(in);
  TextOptions& o = job.options;
  for (std::int64_t* field : {&o.embedding, &o.layers, &o.width, &o.batch, &o.epochs,
                              &o.record_every, &o.runs, &job.corpus.classes, &job.corpus.words}) {
    *field = read<std::int64_t>(in);
  }
  for (double* field : {&o.skip, &o.weight_scale, &o.embedding_scale, &o.rate, &o.decay}) {
    *field = read<double>(in);
  }
  o.seed = read<std::uint64_t>(in);
  job.corpus.train = read_examples(in);
  job.corpus.test = read_examples(in);
  return job;
}

std::string write_message(const TextMessage& message) {
  const TextRow& row = message.row;
  std::string out = fmt::format("{} {} {}", kind_words[static_cast<std::size_t>(message.kind)],
                                message.run, row.step);
  if (message.kind == TextMessage::Kind::row) {
    out += fmt::format(" {} {} {}", row.loss.value, row.loss.error, row.correct);
  } else if (message.kind == TextMessage::Kind::similarity) {
    out += fmt::format(" {}", fmt::join(row.similarity, " "));
  }
  return out + "\n";
}

TextMessage read_message(const std::string& line) {
  std::istringstream in(line);
  TextMessage message;
  message.kind = read_kind(in);
  message.run = read<std::int64_t>(in);
  message.row.step = read<std::int64_t>(in);
  if (message.kind == TextMessage::Kind::row) {
    message.row.loss = {read_number(in), read_number(in)};
    message.row.correct = read<std::int64_t>(in);
  } else if (message.kind == TextMessage::Kind::similarity) {
    while (!(in >> std::ws).eof()) message.row.similarity.push_back(read_number(in));
  }
  if (!(in >> std::ws).eof()) throw std::runtime_error("more words than the message has");
  return message;
}

}  // namespace onset::smi
