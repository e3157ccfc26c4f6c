#include "mha/learners/hull/support_check.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/interior_point.hpp"
#include "numerics/linear_algebra/singular_values.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"

namespace onset::mha {
namespace {

constexpr Index across_directions = 3;
/// A bound on the entries of theta, in units of the size of the base's entries, which keeps the
/// body bounded.
constexpr double box = 10.0;

/// The hull's directions, then random ones orthogonal to it.
Matrix probe_directions(const Hull& hull) {
  const Index along = hull.directions.rows();
  Matrix out(along + across_directions, hull.base.size());
  out.topRows(along) = hull.directions;
  for (Index j = 0; j < across_directions; ++j) {
    Vector g(hull.base.size());
    numerics::Stream(1, "mha support", static_cast<std::uint64_t>(j))
        .normal({g.data(), static_cast<std::size_t>(g.size())});
    g -= hull.directions.transpose() * (hull.directions * g);
    out.row(along + j) = g.normalized();
  }
  return out;
}

}  // namespace

SupportCheck check_support(const Body& body, double inflation, const Hull& hull,
                           const Context& context) {
  const Index along = hull.directions.rows();
  const double entry = hull.base.norm() / std::sqrt(static_cast<double>(hull.base.size()));
  const Matrix probes = probe_directions(hull);
  numerics::LinearProgram program = body_program(body, inflation);
  program.lower.assign(program.cost.size(), -box * entry);
  program.upper.assign(program.cost.size(), box * entry);
  Matrix maximisers(2 * probes.rows(), probes.cols());
  std::vector<char> solved(static_cast<std::size_t>(maximisers.rows()));
  Context alone;
  alone.stop = context.stop;
  numerics::parallel_for(context, solved.size(), [&](std::size_t i) {
    numerics::LinearProgram own = program;
    const auto row = static_cast<Index>(i);
    const double sign = row % 2 == 0 ? -1.0 : 1.0;
    for (Index j = 0; j < probes.cols(); ++j) {
      own.cost[static_cast<std::size_t>(j)] = sign * probes(row / 2, j);
    }
    const numerics::LinearSolution solution = numerics::solve_inside(own, alone);
    solved[i] = solution.optimal ? 1 : 0;
    maximisers.row(row) = Eigen::Map<const Eigen::RowVectorXd>(solution.x.data(), probes.cols());
  });
  SupportCheck out;
  if (std::find(solved.begin(), solved.end(), 0) != solved.end()) return out;
  out.solved = true;
  out.along = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < probes.rows(); ++j) {
    const double width = probes.row(j).dot(maximisers.row(2 * j) - maximisers.row(2 * j + 1));
    if (j < along) {
      out.along = std::min(out.along, width);
    } else {
      out.across = std::max(out.across, width);
    }
  }
  const Matrix centred = maximisers.rowwise() - maximisers.colwise().mean();
  std::vector<double> principal;
  (void)numerics::singular_values(view(centred), principal);
  const Eigen::Map<const Matrix> largest(principal.data(), along, centred.cols());
  const Matrix overlap = hull.directions * largest.transpose();
  const double cosine = numerics::singular_values(view(overlap)).back();
  out.sine = std::sqrt(std::max(0.0, 1.0 - cosine * cosine));
  return out;
}

}  // namespace onset::mha
