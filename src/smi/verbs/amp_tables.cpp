#include "smi/verbs/amp_tables.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "core/outcome.hpp"
#include "core/prose.hpp"
#include "core/rows.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/verbs/named_model.hpp"
#include "smi/verbs/overlap_columns.hpp"

namespace onset::smi {
namespace {

/// The columns name1, name2, .. of layers.
std::vector<Column> numbered(const std::string& name, const std::string& meaning,
                             std::size_t blocks) {
  std::vector<Column> columns;
  for (std::size_t b = 1; b <= blocks; ++b) {
    columns.push_back({name + std::to_string(b), meaning + ", layer " + std::to_string(b), ""});
  }
  return columns;
}

/// The columns of overlaps under another letter.
std::vector<Column> like_overlaps(const FieldShape& shape, char letter,
                                  const std::string& meaning) {
  std::vector<Column> columns = overlap_columns(shape);
  for (Column& column : columns) {
    column.name[0] = letter;
    column.meaning = meaning + " of layer " + column.name[1];
  }
  return columns;
}

Columns<AmpRow> row_columns(const FieldShape& shape) {
  const char* unit = "squared Frobenius norm";
  return Columns<AmpRow>()
      .add("alpha", &AmpRow::alpha, alpha_meaning)
      .add_each(like_overlaps(shape, 'Q', "squared norm of the weights over D"), &AmpRow::norm)
      .add_each(like_overlaps(shape, 'M', "overlap with the teacher"), &AmpRow::overlap)
      .add_each(numbered("cos", "cosine with the teacher", shape.blocks()), &AmpRow::cosine)
      .add("error_plugin", &AmpRow::error_plugin,
           "test error of the label at the estimated weights", unit)
      .add("error_bayes", &AmpRow::error_bayes, "test error of the posterior average", unit)
      .add("diverged", &AmpRow::diverged, "runs that diverged, of all runs at this alpha")
      .add("escaped", &AmpRow::escaped,
           "layers whose weights left the size of the start; exact: all, and the labels are "
           "explained exactly")
      .add("runs", &AmpRow::runs, "runs that ended so, over which the row is a mean")
      .add("fraction", &AmpRow::fraction, "of all runs that did not diverge");
}

Columns<TrajectoryRow> step_columns(const FieldShape& shape) {
  const std::size_t blocks = shape.blocks();
  return Columns<TrajectoryRow>()
      .add("alpha", &TrajectoryRow::alpha, alpha_meaning)
      .add("run", &TrajectoryRow::run, "number of the run")
      .add("iteration", &TrajectoryRow::iteration,
           "number of the iteration; 0 is a spectral or planted start")
      .add_each(numbered("q", "squared norm of the weights over D", blocks), &TrajectoryRow::norm)
      .add_each(numbered("m", "overlap with the teacher", blocks), &TrajectoryRow::overlap)
      .add_each(numbered("cos", "cosine with the teacher", blocks), &TrajectoryRow::cosine)
      .add_each(numbered("V", "what is left to learn in the estimate of the algorithm", blocks),
                &TrajectoryRow::variance)
      .add("error_plugin", &TrajectoryRow::error_plugin, "test error at the estimated weights")
      .add("error_bayes", &TrajectoryRow::error_bayes, "test error of the posterior average")
      .add("residual", &TrajectoryRow::residual,
           "how far the fields are from explaining the labels")
      .add("noise", &TrajectoryRow::noise, "noise of the inner integrals relative to the messages")
      .add("lost", &TrajectoryRow::lost, "samples left out because their posterior underflowed");
}

Columns<RunRow> run_columns() {
  return Columns<RunRow>()
      .add("alpha", &RunRow::alpha, alpha_meaning)
      .add("run", &RunRow::run, "number of the run")
      .add("end", &RunRow::end, "how it ended")
      .add("escaped", &RunRow::escaped, "layers whose weights left the size of the start")
      .add("attempts", &RunRow::attempts, "starts that it took")
      .add("iterations", &RunRow::iterations, "iterations of the last attempt");
}

/// Distances from 1 of the cosines of runs that end alike are far apart beyond this factor, unless
/// all are as good as 0.
constexpr double wide_spread = 10.0;
constexpr double as_good_as_one = 1e-6;

/// How a run ended, as far as means are concerned: which layers escaped from the start, and whether
/// everything is known exactly. Numbers of runs that differ in that are far apart.
std::string mode_of(const MessagePassing& run) {
  if (run.end == StopReason::recovered) return "exact";
  std::vector<std::size_t> blocks;
  for (std::size_t b = 0; b < run.escaped.size(); ++b) {
    if (run.escaped[b]) blocks.push_back(b);
  }
  return blocks.empty() ? "none" : names(blocks);
}

/// Iterations of the last attempt, without the start that step 0 shows.
std::size_t iterations_of(const MessagePassing& run) {
  return run.steps.empty() ? 0 : static_cast<std::size_t>(run.steps.back().iteration);
}

}  // namespace

std::vector<Column> amp_columns(const FieldShape& shape) {
  return row_columns(shape).list();
}

std::vector<Column> trajectory_columns(const FieldShape& shape) {
  return step_columns(shape).list();
}

AmpTables::AmpTables(const FieldShape& shape, bool knows_teacher)
    : shape_(shape), knows_teacher_(knows_teacher) {}

TrajectoryRow AmpTables::step_row(const MessagePassingStep& step) const {
  const auto known = [this](double x) { return knows_teacher_ ? std::optional(x) : std::nullopt; };
  TrajectoryRow row{.iteration = step.iteration,
                    .variance = step.variance,
                    .error_plugin = known(step.plugin_error),
                    .error_bayes = known(step.bayes_error),
                    .residual = step.residual,
                    .noise = step.integration_noise,
                    .lost = step.lost};
  for (const Alignment& block : step.block) {
    row.norm.push_back(block.norm);
    row.overlap.push_back(known(block.overlap));
    row.cosine.push_back(known(block.cosine));
  }
  return row;
}

void AmpTables::add_run(double alpha, std::uint64_t run, MessagePassing result) {
  run_rows_.push_back({.alpha = alpha,
                       .run = run + 1,
                       .end = std::string(to_string(result.end)),
                       .escaped = mode_of(result),
                       .attempts = result.attempts,
                       .iterations = iterations_of(result)});
  for (const MessagePassingStep& step : result.steps) {
    step_rows_.push_back(step_row(step));
    step_rows_.back().alpha = alpha;
    step_rows_.back().run = run + 1;
    matrix_seconds_ += step.matrix_seconds;
    posterior_seconds_ += step.posterior_seconds;
  }
  diverged_ += result.failed() ? 1 : 0;
  unfinished_ += result.end == StopReason::unfinished ? 1 : 0;
  restarts_ += result.attempts - 1;
  if (!result.failed()) weights_ = result.weights;
  runs_.push_back(std::move(result));
}

AmpRow AmpTables::means_of(const Runs& runs) const {
  using Means = std::vector<std::optional<Estimate>>;
  const auto mean = [&](const auto& number_of) -> std::optional<Estimate> {
    if (runs.empty()) return std::nullopt;
    std::vector<double> values;
    for (const MessagePassing* run : runs) values.push_back(number_of(run->steps.back()));
    return numerics::mean_over_runs(values);
  };
  AmpRow row{.runs = std::ssize(runs)};
  for (std::size_t b = 0; b < shape_.blocks(); ++b) {
    const auto rank = static_cast<std::size_t>(shape_.rank[b]);
    const auto entries = [&](const std::vector<double> Alignment::*matrix, bool known, Means& to) {
      for (std::size_t e = 0; e < rank * (rank + 1) / 2; ++e) {
        to.push_back(
            known ? mean([&](const MessagePassingStep& step) { return (step.block[b].*matrix)[e]; })
                  : std::nullopt);
      }
    };
    entries(&Alignment::norm_matrix, true, row.norm);
    entries(&Alignment::overlap_matrix, knows_teacher_, row.overlap);
    row.cosine.push_back(
        knows_teacher_ ? mean([&](const MessagePassingStep& step) { return step.block[b].cosine; })
                       : std::nullopt);
  }
  if (knows_teacher_) {
    row.error_plugin = mean([](const MessagePassingStep& step) { return step.plugin_error; });
    row.error_bayes = mean([](const MessagePassingStep& step) { return step.bayes_error; });
  }
  return row;
}

void AmpTables::note_spread(double alpha, const std::string& mode, const Runs& runs) {
  if (!knows_teacher_ || runs.size() < 2) return;
  for (std::size_t b = 0; b < shape_.blocks(); ++b) {
    double lowest = 1.0;
    double highest = -1.0;
    for (const MessagePassing* run : runs) {
      const double cosine = run->steps.back().block[b].cosine;
      lowest = std::min(lowest, cosine);
      highest = std::max(highest, cosine);
    }
    const double furthest = 1.0 - lowest;
    if (furthest < as_good_as_one || furthest < wide_spread * (1.0 - highest)) continue;
    notes_.push_back(prose(R"(
        alpha = {}, escaped {}: the cosines of block {} range from {:.3g} to {:.3g} over the runs; the
        stated error of a mean over few such runs may be far too small.)",
                           to_text(Value(alpha)), mode, b + 1, lowest, highest));
  }
}

void AmpTables::finish_alpha(double alpha) {
  std::map<std::string, Runs> modes;
  std::int64_t failed = 0, unfinished = 0;
  for (const MessagePassing& run : runs_) {
    failed += run.failed() ? 1 : 0;
    unfinished += run.end == StopReason::unfinished ? 1 : 0;
    if (!run.failed()) modes[mode_of(run)].push_back(&run);
  }
  const std::int64_t all = std::ssize(runs_);
  const auto add = [&](AmpRow row) {
    row.alpha = alpha;
    row.diverged = failed;
    rows_.push_back(std::move(row));
  };
  for (const auto& [mode, runs] : modes) {
    AmpRow row = means_of(runs);
    note_spread(alpha, mode, runs);
    row.escaped = mode;
    row.fraction = numerics::binomial_fraction(std::ssize(runs), all - failed);
    add(std::move(row));
  }
  if (modes.empty()) add(means_of({}));
  mostly_failed_ = mostly_failed_ || 2 * (failed + unfinished) > all;
  ++finished_alphas_;
  runs_.clear();
}

void AmpTables::complete(const Wishes& wishes, Result& out) const {
  out.table = row_columns(shape_).table(rows_);
  if (mostly_failed_) {
    out.unconverged("more than half of the runs at some alpha diverged or needed more iterations");
  }
  judge_tolerance(wishes.tol, overlap_columns(shape_).front().name, "more `runs` would help", out);
  out.summary = {{"runs", static_cast<std::int64_t>(run_rows_.size())},
                 {"diverged", diverged_},
                 {"unfinished", unfinished_},
                 {"restarts", restarts_}};
  if (!step_rows_.empty()) {
    const auto iterations = static_cast<double>(step_rows_.size());
    out.notes.push_back(prose(R"(
        One iteration took {:.2g} ms of products with the inputs and {:.2g} ms of posteriors
        (core time).)",
                              1e3 * matrix_seconds_ / iterations,
                              1e3 * posterior_seconds_ / iterations));
  }
  out.notes.insert(out.notes.end(), notes_.begin(), notes_.end());
  const Table steps = step_columns(shape_).table(step_rows_);
  out.artifacts.push_back({"trajectories.csv", steps});
  out.artifacts.push_back({"runs.csv", run_columns().table(run_rows_)});
  if (wishes.weights && !weights_.empty()) {
    const std::size_t rows = shape_.directions();
    out.artifacts.push_back({"weights.npy", Array{{rows, weights_.size() / rows}, weights_}});
  }
  if (wishes.trajectories) out.table = steps;
}

}  // namespace onset::smi
