#include "mha/learners/net/net_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "mha/learners/net/tuple_search.hpp"
#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"

namespace onset::mha {
namespace {

constexpr int scans = 7;
constexpr double scan_shrink = 0.4;
constexpr int scan_points = 13;   // points on a line
constexpr int plane_points = 9;   // points on each side of a square
constexpr double extent = 3.0;    // extent of scans and net, in norms of the base
constexpr int line_levels = 44;   // levels of radii on a line, four to an octave
constexpr int plane_levels = 18;  // in a plane, two to an octave
constexpr int space_levels = 9;   // in more dimensions, one to an octave
constexpr int angles = 14;
constexpr std::size_t best_tuples = 5;

Vector at(const Hull& hull, const Vector& coordinates) {
  return hull.base + hull.directions.transpose() * coordinates;
}

/// The relative residual of the best w for a single head theta.
double single_head_residual(const Subset& sample, const Matrix& y, const Vector& theta) {
  const Matrix z = head_features(sample, theta).mixed;
  const Matrix w = numerics::solve_normal_equations(z.transpose() * z, z.transpose() * y);
  return (y - z * w).norm();
}

/// Offsets of one scan: a line, a square, or one coordinate after the other.
std::vector<Vector> scan_offsets(Index dimensions, double reach) {
  std::vector<Vector> out;
  const auto step = [reach](int i, int count) { return reach * (2.0 * i / (count - 1) - 1.0); };
  if (dimensions == 2) {
    for (int i = 0; i < plane_points; ++i) {
      for (int j = 0; j < plane_points; ++j) {
        out.emplace_back(Eigen::Vector2d(step(i, plane_points), step(j, plane_points)));
      }
    }
    return out;
  }
  for (Index c = 0; c < dimensions; ++c) {
    for (int i = 0; i < scan_points; ++i) {
      out.emplace_back(step(i, scan_points) * Vector::Unit(dimensions, c));
    }
  }
  return out;
}

/// The single head that explains most, by scans from coarse to fine; `tried` counts heads.
Vector best_single_head(const Subset& sample, const Hull& hull, std::size_t& tried,
                        const Context& context) {
  const Matrix y = labels_of(sample, 0, sample.size());
  Vector centre = Vector::Zero(hull.directions.rows());
  double reach = extent * hull.base.norm();
  for (int scan = 0; scan < scans; ++scan, reach *= scan_shrink) {
    const std::vector<Vector> offsets = scan_offsets(centre.size(), reach);
    std::vector<double> residuals(offsets.size());
    tried += offsets.size();
    numerics::parallel_for(context, offsets.size(), [&](std::size_t i) {
      residuals[i] = single_head_residual(sample, y, at(hull, centre + offsets[i]));
    });
    const auto best = std::min_element(residuals.begin(), residuals.end()) - residuals.begin();
    centre += offsets[static_cast<std::size_t>(best)];
  }
  return centre;
}

std::vector<Vector> net_directions(Index dimensions) {
  std::vector<Vector> out;
  if (dimensions == 1) return {Vector::Ones(1), -Vector::Ones(1)};
  if (dimensions == 2) {
    for (int i = 0; i < angles; ++i) {
      const double angle = 2.0 * std::numbers::pi * i / angles;
      out.emplace_back(Eigen::Vector2d(std::cos(angle), std::sin(angle)));
    }
    return out;
  }
  for (int i = 0; i < angles / 2 * static_cast<int>(dimensions - 1); ++i) {
    Vector direction(dimensions);
    numerics::Stream(1, "mha net", static_cast<std::uint64_t>(i))
        .normal({direction.data(), static_cast<std::size_t>(dimensions)});
    out.push_back(direction.normalized());
    out.emplace_back(-out.back());
  }
  return out;
}

/// Radii that shrink by a constant factor cover heads that are near one another as well as far
/// apart with few points.
std::vector<Vector> net_points(const Hull& hull, const Vector& centre) {
  const Index dimensions = centre.size();
  const int levels = dimensions == 1 ? line_levels : dimensions == 2 ? plane_levels : space_levels;
  const double octaves = dimensions == 1 ? 0.25 : dimensions == 2 ? 0.5 : 1.0;
  std::vector<Vector> out{at(hull, centre)};
  const std::vector<Vector> directions = net_directions(dimensions);
  for (int level = 0; level < levels; ++level) {
    const double radius = extent * hull.base.norm() * std::exp2(-octaves * level);
    for (const Vector& direction : directions) {
      out.push_back(at(hull, centre + radius * direction));
    }
  }
  return out;
}

}  // namespace

NetSearch search_net(const Subset& sample, const Hull& hull, int heads, const Context& context) {
  NetSearch out;
  if (heads == 1) {
    out.points = out.tuples = 1;
    out.best = {{hull.base}};
    out.residuals = {relative_residual(sample, fit_projections(sample, {hull.base}), context)};
    out.evaluations = sample.size();
    return out;
  }
  std::size_t single_heads = 0;
  const std::vector<Vector> points =
      net_points(hull, best_single_head(sample, hull, single_heads, context));
  out.points = points.size();
  single_heads += points.size();
  out.evaluations = single_heads * sample.size() / static_cast<std::size_t>(heads);
  const TupleSearch tuples(sample, points, context);
  const std::vector<Tuple> found = tuples.best(heads, best_tuples, context);
  out.tuples = tuples.tried();
  FitOptions options;
  options.target = 1e-12;
  options.progress = 1e-4;
  std::vector<std::pair<double, std::vector<Vector>>> fitted;
  for (const Tuple& tuple : found) {
    std::vector<Vector> start;
    for (const std::size_t point : tuple.points) start.push_back(points[point]);
    FitOutcome fit = fit_layer(sample, start, &hull, options, context);
    out.evaluations += fit.layer_evaluations(sample.size());
    fitted.emplace_back(fit.residual, thetas_of(fit.layer));
  }
  std::stable_sort(fitted.begin(), fitted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [residual, thetas] : fitted) {
    out.residuals.push_back(residual);
    out.best.push_back(std::move(thetas));
  }
  return out;
}

}  // namespace onset::mha
