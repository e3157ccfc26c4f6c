#pragma once

#include <iosfwd>
#include <string>

#include "smi/learners/text_training.hpp"

/// What `onset` and the program that trains say to each other: a job on its standard input, records
/// on its standard output, both as lines of words and numbers.
namespace onset::smi {

/// What the program is to do.
struct TextJob {
  int threads = 1;
  TextOptions options;
  TextCorpus corpus;
};

[[nodiscard]] std::string write_job(const TextJob& job);
/// Throws std::runtime_error when the stream holds no whole job.
[[nodiscard]] TextJob read_job(std::istream& in);

/// One line of the program. Which fields count depends on the kind.
struct TextMessage {
  enum class Kind {
    at,          ///< run, step: how far the run has come
    row,         ///< run, row: loss and accuracy; its similarities are not known yet
    similarity,  ///< run, row.step, row.similarity
    finished,    ///< run
    diverged,    ///< run, step
  };
  Kind kind = Kind::at;
  std::int64_t run = 0;
  TextRow row;
};

[[nodiscard]] std::string write_message(const TextMessage& message);
/// Throws std::runtime_error on a line that is no message.
[[nodiscard]] TextMessage read_message(const std::string& line);

}  // namespace onset::smi
