#include "smi/verbs/text_tables.hpp"
#include "core/prose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "onset/numerics/replicates.hpp"

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

}  // namespace

Columns<TextStepRow> text_step_columns(std::int64_t layers) {
  std::vector<Column> similarities;
  for (std::int64_t l = 1; l <= layers; ++l) {
    similarities.push_back({fmt::format("similarity{}", l),
                            prose(R"(
         of the weights of layer {} to those that the run ends with: 1 when equal; empty when
         the run did not end)",
                                  l),
                            ""});
  }
  return Columns<TextStepRow>()
      .add("run", &TextStepRow::run, "which run, from 1")
      .add("step", &TextStepRow::step, "steps of training so far")
      .add_each(similarities, &TextStepRow::similarity)
      .add("loss", &TextStepRow::loss, prose(R"(
          training loss (cross-entropy) of the steps since the row before; at step 0 of the
          first batch)"),
           "nat")
      .add("accuracy", &TextStepRow::accuracy, "share of test questions answered right");
}

Columns<TextLayerRow> text_layer_columns() {
  return Columns<TextLayerRow>()
      .add("layer", &TextLayerRow::layer, "attention layer, from 1")
      .add("start", &TextLayerRow::start, "similarity to the final weights before the first step")
      .add("steps", &TextLayerRow::steps, "until the layer is learned (`level`)")
      .add("first", &TextLayerRow::first, "share of runs in which this layer is learned first");
}

Table step_table(const std::vector<TextRun>& runs, std::int64_t layers,
                 std::int64_t test_questions) {
  std::vector<TextStepRow> rows;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const TextRow& row : runs[r].rows) {
      rows.push_back({.run = r + 1,
                      .step = row.step,
                      .similarity = {row.similarity.begin(), row.similarity.end()},
                      .loss = row.loss,
                      .accuracy = numerics::binomial_fraction(row.correct, test_questions)});
      rows.back().similarity.resize(static_cast<std::size_t>(layers));
    }
  }
  return text_step_columns(layers).table(rows);
}

Table order_table(const std::vector<LayerTiming>& layers) {
  std::vector<TextLayerRow> rows;
  for (const LayerTiming& layer : layers) {
    rows.push_back({rows.size() + 1, layer.start, layer.steps, layer.first});
  }
  return text_layer_columns().table(rows);
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
