#include "smi/verbs/amp_tables.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

#include "onset/numerics/replicates.hpp"
#include "smi/verbs/named_model.hpp"
#include "smi/verbs/overlap_columns.hpp"

namespace onset::smi {
namespace {

std::vector<Column> numbered(const std::string& name, const std::string& meaning,
                             std::size_t blocks, bool estimate) {
  std::vector<Column> columns;
  for (std::size_t b = 1; b <= blocks; ++b) {
    columns.push_back({name + std::to_string(b), meaning + std::to_string(b), "", estimate});
  }
  return columns;
}

void append(std::vector<Column> more, std::vector<Column>& columns) {
  columns.insert(columns.end(), more.begin(), more.end());
}

std::vector<Column> trajectory_columns(std::size_t blocks) {
  std::vector<Column> columns{{"alpha", alpha_meaning, "", false},
                              {"run", "number of the run", "", false},
                              {"iteration", "number of the iteration", "", false}};
  append(numbered("q", "squared norm of the weights over D, layer ", blocks, false), columns);
  append(numbered("m", "overlap with the teacher, layer ", blocks, false), columns);
  append(numbered("cos", "cosine with the teacher, layer ", blocks, false), columns);
  append(numbered("V", "what the algorithm thinks is left to learn, layer ", blocks, false),
         columns);
  append({{"error_plugin", "test error at the estimated weights", "", false},
          {"error_bayes", "test error of the posterior average", "", false},
          {"residual", "how far the fields are from explaining the labels", "", false},
          {"noise", "noise of the inner integrals relative to the messages", "", false},
          {"lost", "samples left out because their posterior underflowed", "", false}},
         columns);
  return columns;
}

std::vector<Column> run_columns() {
  return {{"alpha", alpha_meaning, "", false},
          {"run", "number of the run", "", false},
          {"end", "how it ended", "", false},
          {"attempts", "starts that it took", "", false},
          {"iterations", "of the last attempt", "", false}};
}

double norm_of(const MessagePassingStep& step, std::size_t b) {
  return step.block[b].norm;
}
double overlap_of(const MessagePassingStep& step, std::size_t b) {
  return step.block[b].overlap;
}
double cosine_of(const MessagePassingStep& step, std::size_t b) {
  return step.block[b].cosine;
}
double plugin_of(const MessagePassingStep& step, std::size_t) {
  return step.plugin_error;
}
double bayes_of(const MessagePassingStep& step, std::size_t) {
  return step.bayes_error;
}

/// The cells of one overlap per block: off-diagonal ones of a block are 0 after the best rotation.
void append_blocks(const FieldShape& shape, const std::vector<Cell>& per_block,
                   std::vector<Cell>& row) {
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    for (int p = 1; p <= shape.rank[b]; ++p) {
      for (int q = p; q <= shape.rank[b]; ++q) {
        const bool known = std::holds_alternative<Estimate>(per_block[b]);
        row.push_back(p == q || !known ? per_block[b] : Cell(Estimate{0.0, 0.0}));
      }
    }
  }
}

}  // namespace

std::vector<Column> amp_columns(const FieldShape& shape) {
  std::vector<Column> columns{{"alpha", alpha_meaning, "", false}};
  for (Column column : overlap_columns(shape)) {
    column.meaning = "squared norm of the weights over D" + column.meaning.substr(7, 11);
    columns.push_back(column);
  }
  for (Column column : overlap_columns(shape)) {
    column.name[0] = 'M';
    column.meaning = "overlap with the teacher" + column.meaning.substr(7, 11);
    columns.push_back(column);
  }
  append(numbered("cos", "cosine with the teacher, layer ", shape.blocks(), true), columns);
  const char* unit = "squared Frobenius norm";
  columns.push_back(
      {"error_plugin", "test error of the label at the estimated weights", unit, true});
  columns.push_back({"error_bayes", "test error of the posterior average", unit, true});
  columns.push_back({"diverged", "runs that diverged, of all runs at this alpha", "", false});
  return columns;
}

AmpTables::AmpTables(const FieldShape& shape, bool knows_teacher)
    : shape_(shape),
      knows_teacher_(knows_teacher),
      rows_(amp_columns(shape)),
      runs_table_(run_columns()),
      trajectories_(trajectory_columns(shape.blocks())) {}

void AmpTables::add_run(double alpha, std::uint64_t run, MessagePassing result) {
  const auto number = static_cast<std::int64_t>(run + 1);
  runs_table_.add_row({alpha, number, std::string(to_string(result.end)),
                       std::int64_t{result.attempts},
                       static_cast<std::int64_t>(result.steps.size())});
  for (const MessagePassingStep& step : result.steps) {
    std::vector<Cell> row{alpha, number, std::int64_t{step.iteration}};
    const auto cell = [&](double x, bool known) { return known ? Cell(x) : Cell(); };
    for (const auto& b : step.block) row.emplace_back(b.norm);
    for (const auto& b : step.block) row.push_back(cell(b.overlap, knows_teacher_));
    for (const auto& b : step.block) row.push_back(cell(b.cosine, knows_teacher_));
    for (const double v : step.variance) row.emplace_back(v);
    row.push_back(cell(step.plugin_error, knows_teacher_));
    row.push_back(cell(step.bayes_error, knows_teacher_));
    row.emplace_back(step.residual);
    row.emplace_back(step.integration_noise);
    row.emplace_back(static_cast<std::int64_t>(step.lost));
    trajectories_.add_row(std::move(row));
    matrix_seconds_ += step.matrix_seconds;
    posterior_seconds_ += step.posterior_seconds;
    iterations_ += 1.0;
  }
  all_ += 1;
  diverged_ += result.failed() ? 1 : 0;
  unfinished_ += result.end == MessagePassingEnd::unfinished ? 1 : 0;
  restarts_ += result.attempts - 1;
  if (!result.failed()) weights_ = result.weights;
  runs_.push_back(std::move(result));
}

Cell AmpTables::mean(double (*of)(const MessagePassingStep&, std::size_t),
                     std::size_t block) const {
  std::vector<double> values;
  for (const MessagePassing& run : runs_) {
    if (!run.failed()) values.push_back(of(run.steps.back(), block));
  }
  if (values.empty()) return {};
  // The scatter of one run is not known.
  if (values.size() == 1) return Estimate{values[0], std::numeric_limits<double>::quiet_NaN()};
  return numerics::reduce(values);
}

void AmpTables::finish_row(double alpha) {
  std::vector<Cell> row{alpha};
  const auto per_block = [&](double (*of)(const MessagePassingStep&, std::size_t)) {
    std::vector<Cell> cells;
    for (std::size_t b = 0; b < shape_.blocks(); ++b) cells.push_back(mean(of, b));
    return cells;
  };
  const auto known = [&](std::vector<Cell> cells) {
    if (!knows_teacher_) cells.assign(cells.size(), Cell());
    return cells;
  };
  const std::vector<Cell> norms = per_block(norm_of);
  append_blocks(shape_, norms, row);
  append_blocks(shape_, known(per_block(overlap_of)), row);
  for (Cell& cell : known(per_block(cosine_of))) row.push_back(std::move(cell));
  row.push_back(knows_teacher_ ? mean(plugin_of, 0) : Cell());
  row.push_back(knows_teacher_ ? mean(bayes_of, 0) : Cell());
  std::int64_t failed = 0;
  std::int64_t unfinished = 0;
  for (const MessagePassing& run : runs_) {
    failed += run.failed() ? 1 : 0;
    unfinished += run.end == MessagePassingEnd::unfinished ? 1 : 0;
  }
  row.emplace_back(failed);
  rows_.add_row(std::move(row));
  mostly_failed_ =
      mostly_failed_ || 2 * (failed + unfinished) > static_cast<std::int64_t>(runs_.size());
  if (const auto* first = std::get_if<Estimate>(norms.data())) {
    largest_error_ = std::fmax(largest_error_, first->error);
  }
  runs_.clear();
}

void AmpTables::complete(const Wishes& wishes, Result& out) const {
  const bool ok = out.status == ResultStatus::ok;
  if (ok && mostly_failed_) {
    out.status = ResultStatus::unconverged;
    out.reason = "more than half of the runs at some alpha diverged or needed more iterations";
  } else if (ok && wishes.tol > 0.0 && !(largest_error_ <= wishes.tol)) {
    out.status = ResultStatus::unconverged;
    out.reason = "the asked tolerance was not reached; more --runs would";
  }
  out.table = wishes.trajectories ? trajectories_ : rows_;
  out.summary = {{"runs", all_},
                 {"diverged", diverged_},
                 {"unfinished", unfinished_},
                 {"restarts", restarts_}};
  if (iterations_ > 0.0) {
    char text[160];
    std::snprintf(
        text, sizeof text,
        "One iteration took %.2g ms of products with the inputs and %.2g ms of posteriors "
        "(core time).",
        1e3 * matrix_seconds_ / iterations_, 1e3 * posterior_seconds_ / iterations_);
    out.notes.emplace_back(text);
  }
  out.artifacts.push_back({"trajectories.csv", trajectories_});
  out.artifacts.push_back({"runs.csv", runs_table_});
  if (wishes.weights && !weights_.empty()) {
    const std::size_t rows = shape_.directions();
    out.artifacts.push_back({"weights.npy", Array{{rows, weights_.size() / rows}, weights_}});
  }
}

}  // namespace onset::smi
