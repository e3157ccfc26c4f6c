#include "smi/verbs/text_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "core/printable.hpp"
#include "core/prose.hpp"
#include "io/child_process.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

constexpr const char* program_name = "onset-text";
const std::string advice = prose(R"(
    'smi text' trains with it. It is built with Onset where LibTorch is found: install the Debian
    package libtorch-dev, configure and build again (scripts/bootstrap.sh --full does all of it))");
/// Between two looks at whether to stop.
constexpr std::chrono::milliseconds patience{100};
/// From the end of its output to its own end.
constexpr std::chrono::milliseconds grace{2000};

std::string find_text_program() {
  if (const char* chosen = std::getenv("ONSET_TEXT")) return chosen;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / program_name;
  return !error && std::filesystem::exists(beside, error) ? beside.string() : program_name;
}

void require(bool fits, const char* what) {
  if (!fits) throw std::runtime_error(what);
}

/// Puts messages where they belong. Throws std::runtime_error on those that do not fit the job: the
/// program may be of another make.
class Listener {
 public:
  Listener(const TextJob& job, std::vector<TextRun>& runs)
      : steps_(total_steps(job.options, job.corpus.train.size())),
        layers_(static_cast<std::size_t>(job.options.layers)),
        questions_(static_cast<std::int64_t>(job.corpus.test.size())),
        runs_(runs),
        steps_done_(static_cast<std::size_t>(job.options.runs), 0) {
    runs_.resize(steps_done_.size());
  }

  void hear(const TextMessage& message) {
    require(message.run >= 0 && message.run < std::ssize(runs_), "there is no such run");
    const auto index = static_cast<std::size_t>(message.run);
    TextRun& run = runs_[index];
    require(run.end == TextRun::End::none, "this run has ended");
    require(message.row.step >= 0 && message.row.step <= steps_, "there is no such step");
    steps_done_[index] = std::max(steps_done_[index], message.row.step);
    switch (message.kind) {
      case TextMessage::Kind::at: break;
      case TextMessage::Kind::row: add_row(run, message.row); break;
      case TextMessage::Kind::similarity: add_similarity(run, message.row); break;
      case TextMessage::Kind::finished: finish(run); break;
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

  [[nodiscard]] bool has_rows() const {
    return std::any_of(runs_.begin(), runs_.end(),
                       [](const TextRun& run) { return !run.rows.empty(); });
  }

  [[nodiscard]] bool complete() const {
    return std::all_of(runs_.begin(), runs_.end(),
                       [](const TextRun& run) { return run.end != TextRun::End::none; });
  }

 private:
  void add_row(TextRun& run, const TextRow& heard) const {
    require(run.rows.empty() || run.rows.back().step < heard.step, "its steps do not grow");
    require(heard.correct >= 0 && heard.correct <= questions_,
            "there are not so many test questions");
    run.rows.push_back(heard);
  }

  void add_similarity(TextRun& run, const TextRow& heard) const {
    require(heard.similarity.size() == layers_, "it has not one number for each layer");
    const auto row = std::lower_bound(
        run.rows.begin(), run.rows.end(), heard.step,
        [](const TextRow& candidate, std::int64_t step) { return candidate.step < step; });
    require(row != run.rows.end() && row->step == heard.step, "there was no row of this step");
    row->similarity = heard.similarity;
  }

  /// What comes after relies on it: a finished run has rows, all with their similarities.
  void finish(TextRun& run) const {
    require(!run.rows.empty(), "this run has no rows");
    require(std::all_of(run.rows.begin(), run.rows.end(),
                        [&](const TextRow& row) { return row.similarity.size() == layers_; }),
            "some rows of this run have no similarities");
    run.end = TextRun::End::finished;
  }

  std::int64_t steps_;
  std::size_t layers_;
  std::int64_t questions_;
  std::vector<TextRun>& runs_;
  std::vector<std::int64_t> steps_done_;
};

std::string describe(std::optional<int> status) {
  if (!status) return "closed its output, did not end, and was stopped";
  return fmt::format("ended {} {} before its work was done",
                     *status < 0 ? "by signal" : "with status", std::abs(*status));
}

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
      throw IoError(program, fmt::format("says {}, which means nothing here: {}", in_quotes(*line),
                                         error.what()));
    }
    context.report(listener.fraction(), "training");
  }
  const std::optional<int> status = child.wait(grace);
  if (status == 0 && listener.complete()) return outcome;
  outcome.failure = describe(status);
  if (!child.errors().empty()) outcome.failure += ". " + child.errors();
  if (!listener.has_rows()) throw IoError(program, outcome.failure);
  return outcome;
}

}  // namespace onset::smi
