#pragma once

#include <optional>

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/solution.hpp"
#include "core/rows.hpp"

namespace onset::aim {

/// A student at one time, as `aim flow` shows it.
struct FlowRow {
  double time = 0.0;
  std::optional<double> alpha;
  Estimate risk;
  Estimate mse;
  Estimate q;
  Estimate p;
  Estimate anti;
  Estimate trace;
  std::optional<Estimate> alignment;
  std::optional<Estimate> disagreement;
  std::optional<Estimate> mmse;
};

/// alpha and mmse only with a rate, p_anti only of an untied student, disagreement only of hardmax
/// labels.
[[nodiscard]] Columns<FlowRow> flow_columns(const FlowModel& model);

/// A model whose rows have all of these columns, for the help.
[[nodiscard]] FlowModel with_every_column();

/// The row of a student, without time and samples.
[[nodiscard]] FlowRow flow_row(const FlowEstimates& student);

}  // namespace onset::aim
