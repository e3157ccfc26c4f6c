#include "mha/learners/phase_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mha/model/canonical.hpp"

namespace onset::mha {
namespace {

/// Sums of projections below this share of the projections are rounding.
constexpr double cancelled = 1e-12;

double norm(std::span<const double> values) {
  double sum = 0.0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

std::optional<double> projection_error(const std::vector<double>& estimate, const Layer& truth) {
  if (estimate.empty()) return std::nullopt;
  std::vector<double> sum(estimate.size());
  for (int i = 0; i < truth.heads; ++i) {
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += truth.w_of(i)[c];
  }
  std::vector<double> off(sum.size());
  for (std::size_t c = 0; c < sum.size(); ++c) off[c] = estimate[c] - sum[c];
  if (norm(sum) <= cancelled * norm(truth.w)) return std::nullopt;
  return norm(off) / norm(sum);
}

std::optional<double> hull_error(const Knowledge& known, const Layer& truth) {
  if (known.hull_base.empty() || has_zero_theta(truth)) return std::nullopt;
  const std::size_t size = known.hull_base.size();
  double worst = 0.0;
  for (int i = 0; i < truth.heads; ++i) {
    std::vector<double> off(size);
    for (std::size_t c = 0; c < size; ++c) off[c] = truth.theta_of(i)[c] - known.hull_base[c];
    for (std::size_t first = 0; first < known.hull_directions.size(); first += size) {
      const double* direction = &known.hull_directions[first];
      double along = 0.0;
      for (std::size_t c = 0; c < size; ++c) along += off[c] * direction[c];
      for (std::size_t c = 0; c < size; ++c) off[c] -= along * direction[c];
    }
    worst = std::max(worst, norm(off) / norm(truth.theta_of(i)));
  }
  return worst;
}

}  // namespace

PhaseErrors errors_after(const PhaseReport& phase, const Learned& learned, const Layer& truth) {
  PhaseErrors out;
  const auto heads = [&](const Layer& layer) {
    if (const auto errors = parameter_errors(layer, truth)) {
      out.theta = errors->theta;
      out.w = errors->w;
    }
  };
  if (phase.phase == 1) out.projection = projection_error(learned.knowledge.crude_w, truth);
  if (phase.name == "trimmed refinement") {
    out.projection = projection_error(learned.knowledge.refined_w, truth);
  }
  if (phase.phase == 4) out.hull = hull_error(learned.knowledge, truth);
  if (phase.name == "least squares") heads(learned.geometry);
  if (phase.name == "polish") heads(learned.layer);
  return out;
}

std::optional<double> predicted_hull_error(const InstanceLaw& law, double samples) {
  const double agreement = (law.heads - 1.0) * (law.tokens - 1.0);
  if (agreement <= 0.0) return std::nullopt;
  const double slabs = 8.0 * law.dim * law.dim;
  const double share = slabs / (samples * law.tokens * (law.tokens - 1.0));
  return std::pow(share, 1.0 / agreement) * law.dim / std::sqrt(2.0 * slabs);
}

}  // namespace onset::mha
