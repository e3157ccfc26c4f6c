#include "ssi/learners/expected_passage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/solvers/exit_time.hpp"
#include "onset/core/error.hpp"

namespace onset::ssi {
namespace {

/// Cells of the grid. It is even in the inverse hyperbolic sine of m sqrt(d), so that it resolves
/// the start and has a constant relative step beyond; twice as many change times by less than
/// 1e-3 up to d = 1e12.
constexpr std::size_t cells = 8192;

/// Overlaps from -level to level, evenly spaced in asinh(m sqrt(d)).
std::vector<double> grid_of(const SgdOptions& options, std::size_t count) {
  const double unit = 1.0 / std::sqrt(options.dim);
  const double end = std::asinh(options.level / unit);
  std::vector<double> m;
  for (std::size_t i = 0; i <= count; ++i) {
    const double at = 2.0 * static_cast<double>(i) / static_cast<double>(count) - 1.0;
    m.push_back(unit * std::sinh(end * at));
  }
  m.front() = -options.level;
  m.back() = options.level;
  return m;
}

/// The mean of values on the grid over the first coordinate of a uniform unit vector, whose density
/// is (1 - m^2)^((d - 3)/2); what starts beyond the level has passed at once.
double mean_over_sphere(const std::vector<double>& m, const std::vector<double>& values,
                        double dim) {
  const double power = 0.5 * (dim - 3.0);
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < m.size(); ++i) {
    const auto weighted = [&](std::size_t j) {
      return values[j] * std::exp(power * std::log1p(-m[j] * m[j]));
    };
    sum += 0.5 * (weighted(i) + weighted(i + 1)) * (m[i + 1] - m[i]);
  }
  // The integral of the density over (-1, 1) is the beta function of 1/2 and (d - 1)/2.
  const double log_total =
      0.5 * std::log(M_PI) + std::lgamma(0.5 * (dim - 1.0)) - std::lgamma(0.5 * dim);
  return sum / std::exp(log_total);
}

double interpolated(const std::vector<double>& m, const std::vector<double>& values, double at) {
  const auto above = std::lower_bound(m.begin(), m.end(), at);
  if (above == m.begin()) return values.front();
  if (above == m.end()) return values.back();
  const auto i = static_cast<std::size_t>(above - m.begin());
  const double part = (at - m[i - 1]) / (m[i] - m[i - 1]);
  return values[i - 1] + part * (values[i] - values[i - 1]);
}

double steps_by(const FlowField& field, const SgdOptions& options, std::size_t rule,
                std::size_t count) {
  numerics::LineDiffusion diffusion;
  diffusion.x = grid_of(options, count);
  for (const double m : diffusion.x) {
    const Motion motion = field.at(0.0, m, rule);
    diffusion.drift.push_back(motion.drift_m);
    diffusion.noise.push_back(field.rate() / options.dim * motion.noise_mm);
  }
  const std::vector<double> times = numerics::mean_exit_times(diffusion);
  double time = interpolated(diffusion.x, times, 0.0);
  if (options.start == Start::random) time = mean_over_sphere(diffusion.x, times, options.dim);
  if (options.start == Start::overlapped) {
    time = interpolated(diffusion.x, times, 1.0 / std::sqrt(options.dim));
  }
  return time * options.dim / field.rate();
}

}  // namespace

Estimate expected_passage(const FlowField& field, const SgdOptions& options) {
  if (field.positional()) {
    throw InvalidArgument("positional", "the expected passage is known for one overlap only");
  }
  std::vector<double> by_rule;
  for (const std::size_t rule : field.rules()) {
    by_rule.push_back(steps_by(field, options, rule, cells));
    if (!std::isfinite(by_rule.back())) return {std::numeric_limits<double>::infinity(), 0.0};
  }
  const Estimate rough = field.reduce(by_rule);
  const double coarse = steps_by(field, options, FlowField::best, cells);
  const double fine = steps_by(field, options, FlowField::best, 2 * cells);
  return {rough.value + (fine - coarse), std::hypot(rough.error, fine - coarse)};
}

}  // namespace onset::ssi
