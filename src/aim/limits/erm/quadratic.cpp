#include "aim/limits/erm/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "aim/limits/erm/recovery.hpp"
#include "aim/limits/erm/shrunk_spectrum.hpp"
#include "aim/limits/root_between.hpp"

namespace onset::aim {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double root_tolerance = 4.0 * std::numeric_limits<double>::epsilon();
/// Noise of the matrix, in logarithms: below, recovery is exact to rounding; above, the teacher
/// cannot be seen.
constexpr double min_log_delta = -50.0;
constexpr double max_log_delta = 40.0;
constexpr double log_delta_step = 3.0;

double root_of(const std::function<double(double)>& f, double low, double high) {
  return root_between(f, low, high, root_tolerance, "the minimum of training").x;
}

/// A point of a ray: a family of minima along which A(delta) falls.
struct OnRay {
  double delta;
  double threshold;
  ShrunkSpectrum spectrum;
};

/// Rays have a fixed c = threshold / sqrt(delta), or, with more equations than unknowns, a fixed
/// threshold c: there a small delta no longer changes A at fixed c of the first kind [aim 104].
class Rays {
 public:
  explicit Rays(const QuadraticProblem& problem) : p_(problem) {}

  [[nodiscard]] OnRay at(double c, double log_delta) const {
    const double delta = std::exp(log_delta);
    const double threshold = c * unit(delta);
    return {delta, threshold, shrunk_spectrum(p_.penalty, p_.rho, delta, threshold)};
  }

  /// log((E + s) / (A delta)), which falls with delta.
  [[nodiscard]] double missing(const OnRay& ray) const {
    // Rounding may leave an error of almost 0 below it.
    const double error =
        std::max(ray.spectrum.error + p_.noise, std::numeric_limits<double>::min());
    return std::log(error) - std::log(p_.equations * ray.delta);
  }

  /// The point with the right A; nothing where even wide noise does not need so many equations
  /// (`low`), or small noise needs fewer (`high`): there recovery is exact.
  struct Found {
    std::optional<OnRay> ray;
    bool recovered = false;
  };
  [[nodiscard]] Found find(double c) const {
    double high = std::min(max_log_delta, log_zero_delta());
    double low = high;
    const auto f = [&](double y) { return missing(at(c, y)); };
    while (f(high) > 0.0) {
      if (high >= max_log_delta) return {};
      low = high;
      high = std::min(max_log_delta, high + log_delta_step);
    }
    while (f(low) < 0.0) {
      if (low <= min_log_delta) return {std::nullopt, true};
      high = low;
      low = std::max(min_log_delta, low - log_delta_step);
    }
    return {at(c, high == low ? low : root_of(f, low, high)), false};
  }

  /// log of the delta at which nothing is learned: A delta = Q0 + s.
  [[nodiscard]] double log_zero_delta() const {
    return std::log((p_.second_moment() + p_.noise) / p_.equations);
  }
  /// c at which the threshold reaches the edge there.
  [[nodiscard]] double max_ray() const {
    const double delta = std::exp(log_zero_delta());
    return right_edge(p_.rho, delta) / unit(delta);
  }
  [[nodiscard]] double equations() const { return p_.equations; }

 private:
  [[nodiscard]] double unit(double delta) const {
    return p_.equations > 1.0 ? 1.0 : std::sqrt(delta);
  }
  QuadraticProblem p_;
};

QuadraticMinimum on_ray(const QuadraticProblem& p, const OnRay& ray) {
  const double free = p.equations - ray.spectrum.response;
  const double conjugate = 4.0 * free;
  return {.decay = 2.0 * ray.threshold * free,
          .delta = ray.delta,
          .threshold = ray.threshold,
          .conjugate = conjugate,
          .chi = ray.spectrum.response / conjugate};
}

QuadraticMinimum recovered() {
  return {.conjugate = 0.0, .chi = infinite, .exact = true};
}

QuadraticMinimum zero(const QuadraticProblem& p, double decay) {
  const double delta = (p.second_moment() + p.noise) / p.equations;
  const double conjugate = 4.0 * p.equations;
  return {.decay = decay,
          .delta = delta,
          .threshold = 2.0 * decay / conjugate,
          .conjugate = conjugate,
          .chi = 0.0,
          .zero = true};
}

/// Equations that are still free above the response: the sign of the decay on a ray.
double free_equations(const Rays& rays, double c) {
  const Rays::Found found = rays.find(c);
  if (found.recovered) return 0.0;
  return found.ray ? rays.equations() - found.ray->spectrum.response : -1.0;
}

/// The limit of small decays: the interpolator of smallest penalty, or plain least squares where
/// labels cannot be fitted [aim 95].
QuadraticMinimum without_decay(const QuadraticProblem& p, const Rays& rays) {
  const bool positive = p.penalty == Penalty::trace;
  if (p.noise == 0.0 && p.equations >= (positive ? trace_recovery(p.rho) : 1.0)) {
    return recovered();
  }
  if (const Rays::Found plain = rays.find(0.0);
      plain.ray && rays.equations() >= plain.ray->spectrum.response) {
    return on_ray(p, *plain.ray);
  }
  const double c = root_of([&](double x) { return free_equations(rays, x); }, 0.0, rays.max_ray());
  const Rays::Found found = rays.find(c);
  if (!found.ray) return recovered();
  return {.delta = found.ray->delta, .threshold = found.ray->threshold, .chi = infinite};
}

/// `ridge` [aim 91]: S = shrinkage R with R of noise delta = (E + s)/A.
QuadraticMinimum ridge_from(const QuadraticProblem& p, double shrinkage) {
  const double kept = shrinkage * shrinkage / p.equations;
  const double q0 = p.second_moment();
  if (p.noise == 0.0 && shrinkage == 1.0) return recovered();
  const double error = (q0 * (1.0 - shrinkage) * (1.0 - shrinkage) + kept * p.noise) / (1.0 - kept);
  const double free = p.equations - shrinkage;
  return {.decay = (1.0 - shrinkage) * free / shrinkage,
          .delta = (error + p.noise) / p.equations,
          .conjugate = 4.0 * free,
          .chi = free > 0.0 ? 0.25 * shrinkage / free : infinite,
          .shrinkage = shrinkage};
}

/// The smaller root of x^2 - sum x + product, without cancellation.
double smaller_root(double sum, double product) {
  return 2.0 * product / (sum + std::sqrt(sum * sum - 4.0 * product));
}

QuadraticMinimum ridge_minimum(const QuadraticProblem& p, double decay) {
  if (decay == 0.0) return ridge_from(p, std::min(1.0, p.equations));
  // (1 - x)(A - x) = decay x.
  return ridge_from(p, smaller_root(1.0 + p.equations + decay, p.equations));
}

/// The threshold with the smallest error at this noise [aim 100].
OnRay best_at(const QuadraticProblem& p, double log_delta) {
  const double delta = std::exp(log_delta);
  const double edge = right_edge(p.rho, delta);
  const auto slope = [&](double threshold) {
    return shrunk_spectrum(p.penalty, p.rho, delta, threshold).error_by_threshold;
  };
  // The slope is negative at 0 and positive just inside the edge, however close to it. Where
  // rounding hides that, nothing is kept.
  constexpr int max_halvings = 30;
  double threshold = slope(0.0) < 0.0 ? edge : 0.0;
  double low = 0.0;
  double distance = 0.5 * edge;
  for (int i = 0; i < max_halvings && threshold == edge; ++i, distance *= 0.5) {
    const double high = edge - distance;
    if (slope(high) > 0.0) threshold = root_of(slope, low, high);
    low = high;
  }
  return {delta, threshold, shrunk_spectrum(p.penalty, p.rho, delta, threshold)};
}

}  // namespace

QuadraticMinimum quadratic_minimum(const QuadraticProblem& problem, double decay) {
  if (problem.penalty == Penalty::ridge) return ridge_minimum(problem, decay);
  if (decay >= quadratic_max_decay(problem)) return zero(problem, decay);
  const Rays rays(problem);
  if (decay == 0.0) return without_decay(problem, rays);
  const auto excess = [&](double c) {
    const Rays::Found found = rays.find(c);
    if (found.recovered) return -decay;
    if (!found.ray) return -2.0 * decay;
    return on_ray(problem, *found.ray).decay - decay;
  };
  const double c = root_of(excess, 0.0, rays.max_ray());
  QuadraticMinimum minimum = on_ray(problem, *rays.find(c).ray);
  minimum.decay = decay;
  return minimum;
}

QuadraticMinimum best_quadratic_minimum(const QuadraticProblem& p) {
  if (p.penalty == Penalty::ridge) {
    const double q0 = p.second_moment();
    return ridge_from(p, smaller_root(1.0 + p.equations + p.noise / q0, p.equations));
  }
  const Rays rays(p);
  const auto missing = [&](double y) { return rays.missing(best_at(p, y)); };
  double high = rays.log_zero_delta();
  double low = high;
  while (missing(low) < 0.0) {
    if (low <= min_log_delta) return quadratic_minimum(p, 0.0);
    high = low;
    low = std::max(min_log_delta, low - log_delta_step);
  }
  const OnRay best = best_at(p, root_of(missing, low, high));
  if (best.spectrum.response >= p.equations) return quadratic_minimum(p, 0.0);
  return on_ray(p, best);
}

double quadratic_max_decay(const QuadraticProblem& p) {
  if (p.penalty == Penalty::ridge) return infinite;
  return 2.0 * p.equations * right_edge(p.rho, (p.second_moment() + p.noise) / p.equations);
}

DecayFreeWindow decay_free_window(double rho, double noise) {
  QuadraticProblem p{.rho = rho, .equations = 1.0, .noise = noise};
  const Rays rays(p);
  // A along the curve of best thresholds, and how much of it is free.
  const auto equations = [&](double y) {
    const OnRay best = best_at(p, y);
    return (best.spectrum.error + noise) / best.delta;
  };
  const auto free = [&](double y) {
    const OnRay best = best_at(p, y);
    return (best.spectrum.error + noise) / best.delta - best.spectrum.response;
  };
  // From wide noise, where decay helps, downwards.
  constexpr double start = 10.0;
  constexpr double step = 0.1;
  DecayFreeWindow window;
  for (double y = start; y > -30.0; y -= step) {
    const bool now = free(y - step) < 0.0;
    const bool before = free(y) < 0.0;
    if (now == before) continue;
    const double edge = equations(root_of(free, y - step, y));
    if (now) {
      window = {edge, edge};
      if (noise == 0.0) return {edge, trace_recovery(rho)};
    } else {
      window.high = edge;
      return window;
    }
  }
  return window;
}

}  // namespace onset::aim
