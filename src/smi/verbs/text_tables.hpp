#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rows.hpp"
#include "smi/learners/learning_order.hpp"

namespace onset::smi {

/// A moment of a run.
struct TextStepRow {
  std::size_t run = 0;
  std::int64_t step = 0;
  std::vector<std::optional<double>> similarity = {};  ///< of every layer; none until a run ends
  Estimate loss = {};
  Estimate accuracy = {};
};

/// What all runs say about a layer, with --order.
struct TextLayerRow {
  std::size_t layer = 0;
  Estimate start, steps, first;
};

[[nodiscard]] Columns<TextStepRow> text_step_columns(std::int64_t layers);
[[nodiscard]] Columns<TextLayerRow> text_layer_columns();

/// All rows of all runs, as far as they came.
[[nodiscard]] Table step_table(const std::vector<TextRun>& runs, std::int64_t layers,
                               std::int64_t test_questions);

/// One row per layer; none without a finished run.
[[nodiscard]] Table order_table(const std::vector<LayerTiming>& layers);

/// Accuracy and learning order of the finished runs.
[[nodiscard]] std::vector<std::pair<std::string, Cell>> text_summary(
    const std::vector<TextRun>& runs, const std::vector<LayerTiming>& layers,
    std::int64_t test_questions);

}  // namespace onset::smi
