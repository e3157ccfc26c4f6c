#include "smi/verbs/text_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "io/child_process.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

constexpr const char* program_name = "onset-text";
constexpr const char* advice =
    "`smi text` trains with it. It is built with Onset where LibTorch is found: install the Debian "
    "package libtorch-dev, configure and build again (scripts/bootstrap.sh --full does all of it)";
/// Between two looks at whether to stop.
constexpr std::chrono::milliseconds patience{100};

std::string find_text_program() {
  if (const char* chosen = std::getenv("ONSET_TEXT")) return chosen;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / program_name;
  return !error && std::filesystem::exists(beside, error) ? beside.string() : program_name;
}

/// Puts messages where they belong.
class Listener {
 public:
  Listener(const TextJob& job, std::vector<TextRun>& runs)
      : steps_(total_steps(job.options, job.corpus)),
        runs_(runs),
        steps_done_(static_cast<std::size_t>(job.options.runs), 0) {
    runs_.resize(steps_done_.size());
  }

  void hear(const TextMessage& message) {
    const auto index = static_cast<std::size_t>(message.run);
    TextRun& run = runs_.at(index);
    steps_done_[index] = std::max(steps_done_[index], message.row.step);
    switch (message.kind) {
      case TextMessage::Kind::at: break;
      case TextMessage::Kind::row: run.rows.push_back(message.row); break;
      case TextMessage::Kind::similarity: add_similarity(run, message.row); break;
      case TextMessage::Kind::finished: run.end = TextRun::End::finished; break;
      case TextMessage::Kind::diverged:
        run.end = TextRun::End::diverged;
        steps_done_[index] = steps_;
        break;
    }
  }

  [[nodiscard]] double fraction() const {
    double done = 0.0;
    for (const std::int64_t steps : steps_done_) done += static_cast<double>(steps);
    return done / (static_cast<double>(steps_) * static_cast<double>(steps_done_.size()));
  }

  [[nodiscard]] bool complete() const {
    return std::all_of(runs_.begin(), runs_.end(),
                       [](const TextRun& run) { return run.end != TextRun::End::none; });
  }

 private:
  static void add_similarity(TextRun& run, const TextRow& heard) {
    const auto row = std::lower_bound(
        run.rows.begin(), run.rows.end(), heard.step,
        [](const TextRow& candidate, std::int64_t step) { return candidate.step < step; });
    if (row != run.rows.end()) row->similarity = heard.similarity;
  }

  std::int64_t steps_;
  std::vector<TextRun>& runs_;
  std::vector<std::int64_t> steps_done_;
};

}  // namespace

TextOutcome run_text_program(const TextJob& job, const Context& context) {
  TextOutcome outcome;
  Listener listener(job, outcome.runs);
  const std::string program = find_text_program();
  const std::string input = write_job(job);
  // One thread for each run: several for one product of matrices would give other bits.
  io::ChildProcess child({program, {"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"}, input, advice});
  while (!child.ended()) {
    if (context.stop.stop_requested()) {
      outcome.interrupted = true;
      return outcome;
    }
    const auto line = child.read_line(patience);
    if (!line) continue;
    try {
      listener.hear(read_message(*line));
    } catch (const std::exception& error) {
      throw IoError(program,
                    fmt::format("says '{}', which means nothing here: {}", *line, error.what()));
    }
    context.report(listener.fraction(), "training");
  }
  const int status = child.wait();
  if (status != 0 || !listener.complete()) {
    throw IoError(program, fmt::format("ended with status {}: {}", status, child.errors()));
  }
  return outcome;
}

}  // namespace onset::smi
