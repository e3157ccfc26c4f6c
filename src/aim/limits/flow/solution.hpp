#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "aim/limits/flow/flow_model.hpp"
#include "aim/limits/flow/numbers.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/core/status.hpp"

namespace onset::aim {

/// How the parts without a closed form are computed.
struct FlowOptions {
  std::uint64_t seed = 1;
  std::size_t size = 64;   ///< of matrices; half of it is used as well
  std::size_t draws = 16;  ///< pairs of matrices at both sizes
};

/// A student's numbers at one time; NaN, with an error of NaN, where it has none.
struct FlowEstimates {
  std::array<Estimate, flow_number_count> values{};
  [[nodiscard]] const Estimate& operator[](FlowNumber which) const {
    return values[static_cast<std::size_t>(which)];
  }
};

struct FlowSolution {
  std::vector<FlowEstimates> students;  ///< at the asked times, as far as they were reached
  std::optional<Estimate> escape;
  std::optional<Estimate> half;
  Status status;
};

/// Whether a model's path is an ordinary differential equation; else matrices are needed.
[[nodiscard]] bool has_closed_path(const FlowModel& model);

/// The path of a student under online SGD in large dimension [aim 67]. Times increase.
///
/// Where it has a closed form, errors are the difference of two rules. Elsewhere (a tied or untied
/// student with a rate, an untied one from a gaussian start) it is that of a twin that has one, and
/// the mean difference of both in pairs of matrices that share their start [aim 76]; errors then
/// are their scatter, and half of what extrapolation from two sizes changed.
[[nodiscard]] FlowSolution solve_flow(const FlowModel& model, const std::vector<double>& times,
                                      const FlowOptions& options, const Context& context);

}  // namespace onset::aim
