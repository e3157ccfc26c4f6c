#include "smi/verbs/text_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace onset::smi {
namespace {

std::int64_t count_runs(const std::vector<TextRun>& runs, TextRun::End end) {
  return std::count_if(runs.begin(), runs.end(),
                       [end](const TextRun& run) { return run.end == end; });
}

/// Layers as people count them.
std::int64_t number_of(std::size_t layer) {
  return static_cast<std::int64_t>(layer) + 1;
}

/// Weights are of single precision, which has no more digits.
double rounded(double similarity) {
  constexpr double digits = 1e6;
  return std::round(similarity * digits) / digits;
}

std::vector<Cell> trajectory_row(std::size_t run, const TextRow& row, std::int64_t layers,
                                 std::int64_t test_questions) {
  std::vector<Cell> cells{static_cast<std::int64_t>(run) + 1, row.step};
  for (std::size_t l = 0; l < static_cast<std::size_t>(layers); ++l) {
    cells.push_back(l < row.similarity.size() ? Cell(Estimate{rounded(row.similarity[l]), 0.0})
                                              : Cell());
  }
  cells.emplace_back(row.loss);
  cells.emplace_back(share(row.correct, test_questions));
  return cells;
}

}  // namespace

std::vector<Column> trajectory_columns(std::int64_t layers) {
  std::vector<Column> columns{{"run", "which run, from 1", "", false},
                              {"step", "steps of training so far", "", false}};
  for (std::int64_t l = 1; l <= layers; ++l) {
    columns.push_back({fmt::format("similarity{}", l),
                       fmt::format("of the weights of layer {} to those that the run ends with: 1 "
                                   "when equal; empty when the run did not end",
                                   l),
                       "", true});
  }
  columns.push_back({"loss",
                     "training loss (cross-entropy) of the steps since the row before; at step 0 "
                     "of the first batch",
                     "nat", true});
  columns.push_back({"accuracy", "share of test questions answered right", "", true});
  return columns;
}

Table trajectory_table(const std::vector<TextRun>& runs, std::int64_t layers,
                       std::int64_t test_questions) {
  Table table(trajectory_columns(layers));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const TextRow& row : runs[r].rows) {
      table.add_row(trajectory_row(r, row, layers, test_questions));
    }
  }
  return table;
}

Table order_table(const std::vector<LayerTiming>& layers) {
  Table table({{"layer", "attention layer, from 1", "", false},
               {"start", "similarity to the final weights before the first step", "", true},
               {"steps", "until the layer is learned (--level)", "", true},
               {"first", "share of runs in which this layer is learned first", "", true}});
  for (std::size_t l = 0; l < layers.size(); ++l) {
    table.add_row({number_of(l), layers[l].start, layers[l].steps, layers[l].first});
  }
  return table;
}

std::vector<std::pair<std::string, Cell>> text_summary(const std::vector<TextRun>& runs,
                                                       const std::vector<LayerTiming>& layers,
                                                       std::int64_t test_questions) {
  std::vector<std::pair<std::string, Cell>> summary{
      {"finished_runs", count_runs(runs, TextRun::End::finished)},
      {"diverged_runs", count_runs(runs, TextRun::End::diverged)}};
  if (layers.empty()) return summary;
  summary.emplace_back("accuracy", mean_accuracy(runs, test_questions));
  std::vector<std::int64_t> order;
  for (const std::size_t l : in_order(layers)) order.push_back(number_of(l));
  summary.emplace_back("learning_order", fmt::format("{}", fmt::join(order, ",")));
  for (std::size_t l = 0; l < layers.size(); ++l) {
    summary.emplace_back(fmt::format("steps{}", number_of(l)), layers[l].steps);
    summary.emplace_back(fmt::format("first{}", number_of(l)), layers[l].first);
  }
  return summary;
}

}  // namespace onset::smi
