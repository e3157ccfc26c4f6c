#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "aim/model/channels/hardmax/information.hpp"
#include "numerics/quadrature/chebyshev.hpp"
#include "onset/core/context.hpp"
#include "onset/core/estimate.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {

/// E_hat sqrt(1 + lambda) against the angle atan(sqrt(lambda)): smooth on [0, pi/2].
inline constexpr double max_angle = 0.5 * std::numbers::pi;
/// The degree of the series for three tokens and more; two tokens show that it leaves out 1e-5.
inline constexpr int sampled_degree = 8;

/// The sampled values at the nodes of the series; the last node, infinite lambda, is known.
inline std::vector<Estimate> sampled_nodes(int tokens, std::size_t samples, std::uint64_t seed,
                                           const Context& context) {
  const auto angles = numerics::ChebyshevSeries::nodes(0.0, max_angle, sampled_degree);
  std::vector<Estimate> values;
  for (std::size_t i = 0; i + 1 < angles.size(); ++i) {
    const double root = std::tan(angles[i]);
    // Near infinity only few samples are near a tie and count.
    const std::size_t effort = i + 2 == angles.size() ? 4 * samples : samples;
    const Estimate e = numerics::reduce(
        sampled_hardmax_information(tokens, root * root, effort, seed + i, context));
    const double scale = 1.0 / std::cos(angles[i]);
    values.push_back({e.value * scale, e.error * scale});
    context.report(static_cast<double>(i + 1) / sampled_degree, "hardmax table");
  }
  return values;
}

}  // namespace onset::aim
