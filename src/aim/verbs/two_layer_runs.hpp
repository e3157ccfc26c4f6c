#pragma once

#include <vector>

#include "aim/verbs/amp_problem.hpp"
#include "onset/aim.hpp"
#include "onset/core/table.hpp"

/// Message passing of two layers behind one label, as `aim amp` shows it.
namespace onset::aim {

[[nodiscard]] std::vector<Column> two_layer_run_columns();

[[nodiscard]] Cost two_layers_cost(const Amp& request, const AmpProblem& problem);

void run_two_layers(const Amp& request, const AmpProblem& problem, const Context& context,
                    Result& result);

}  // namespace onset::aim
