#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "onset/core/table.hpp"
#include "onset/smi/learners/learning_order.hpp"

namespace onset::smi {

[[nodiscard]] std::vector<Column> trajectory_columns(std::int64_t layers);
/// All rows of all runs, as far as they came.
[[nodiscard]] Table trajectory_table(const std::vector<TextRun>& runs, std::int64_t layers,
                                     std::int64_t test_questions);

/// One row per layer; none without a finished run.
[[nodiscard]] Table order_table(const std::vector<LayerTiming>& layers);

/// Accuracy and learning order of the finished runs.
[[nodiscard]] std::vector<std::pair<std::string, Cell>> text_summary(
    const std::vector<TextRun>& runs, const std::vector<LayerTiming>& layers,
    std::int64_t test_questions);

}  // namespace onset::smi
