#include "mha/learners/refine/minimum_norm_point.hpp"

#include <cmath>

namespace onset::mha {
namespace {

/// Nonnegative least squares min |E u - f|, u >= 0, by Lawson and Hanson's active sets on the
/// normal equations, gram = E^T E and right = E^T f, with a Cholesky factor that grows by one row
/// for a new member of the set.
class NonnegativeLeastSquares {
 public:
  NonnegativeLeastSquares(const Matrix& gram, const Vector& right)
      : gram_(gram),
        right_(right),
        u_(Vector::Zero(right.size())),
        closed_(static_cast<std::size_t>(right.size())) {}

  Vector solve(const Context& context) {
    const Index most = 3 * right_.size();
    for (Index step = 0; step < most; ++step) {
      context.check();
      const Index next = steepest();
      if (next < 0) break;
      closed_[static_cast<std::size_t>(next)] = 1;
      if (append(next)) descend();  // a member that depends on the set stays closed for good
    }
    return u_;
  }

 private:
  /// The closed member whose growth would lower the residual most; -1 when none would.
  [[nodiscard]] Index steepest() const {
    Vector gradient = right_;
    for (const Index j : active_) gradient -= u_[j] * gram_.row(j).transpose();
    Index best = -1;
    double most = gradient_floor;
    for (Index j = 0; j < gradient.size(); ++j) {
      if (closed_[static_cast<std::size_t>(j)] != 0 || gradient[j] <= most) continue;
      most = gradient[j];
      best = j;
    }
    return best;
  }

  /// Adds a member and its row of the factor; false when it depends on the others.
  bool append(Index next) {
    const auto size = static_cast<Index>(active_.size());
    Vector row(size);
    for (Index i = 0; i < size; ++i) row[i] = gram_(active_[static_cast<std::size_t>(i)], next);
    const auto lower = factor_.topLeftCorner(size, size).triangularView<Eigen::Lower>();
    if (size > 0) lower.solveInPlace(row);
    const double pivot = gram_(next, next) - row.squaredNorm();
    if (!(pivot > pivot_floor * gram_(next, next))) return false;
    if (size == factor_.rows()) factor_.conservativeResize(2 * size + 16, 2 * size + 16);
    factor_.row(size).head(size) = row;
    factor_(size, size) = std::sqrt(pivot);
    active_.push_back(next);
    return true;
  }

  /// Moves to the least squares of the active set, dropping what would turn negative on the way.
  void descend() {
    while (!active_.empty()) {
      const auto size = static_cast<Index>(active_.size());
      Vector goal(size);
      for (Index i = 0; i < size; ++i) goal[i] = right_[active_[static_cast<std::size_t>(i)]];
      const auto lower = factor_.topLeftCorner(size, size).triangularView<Eigen::Lower>();
      lower.solveInPlace(goal);
      lower.transpose().solveInPlace(goal);
      if (goal.minCoeff() > 0.0) {
        for (Index i = 0; i < size; ++i) u_[active_[static_cast<std::size_t>(i)]] = goal[i];
        return;
      }
      step_towards(goal);
    }
  }

  void step_towards(const Vector& goal) {
    double share = 1.0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const double now = u_[active_[i]];
      const double then = goal[static_cast<Index>(i)];
      if (then <= 0.0) share = std::min(share, now / (now - then));
    }
    const std::vector<Index> before = std::move(active_);
    active_.clear();
    for (std::size_t i = 0; i < before.size(); ++i) {
      double& value = u_[before[i]];
      value += share * (goal[static_cast<Index>(i)] - value);
      const bool stays = value > 0.0 && (goal[static_cast<Index>(i)] > 0.0 || value > vanishing);
      if (stays && append(before[i])) continue;
      value = 0.0;
      closed_[static_cast<std::size_t>(before[i])] = 0;
    }
  }

  static constexpr double gradient_floor = 1e-10;
  static constexpr double pivot_floor = 1e-12;
  static constexpr double vanishing = 1e-14;
  const Matrix& gram_;
  const Vector& right_;
  Vector u_;
  std::vector<char> closed_;  // whether it is in the set, or never will be
  std::vector<Index> active_;
  Eigen::MatrixXd factor_;
};

}  // namespace

Vector minimum_norm_point(const Body& body, double inflation, const Context& context) {
  const Index slabs = body.centre.size();
  const Index unknowns = body.normals.cols();
  // The constraints are G theta >= h from below and from above, with rows scaled to unit normals.
  Matrix columns(2 * slabs, unknowns + 1);
  for (Index s = 0; s < slabs; ++s) {
    const double norm = body.normals.row(s).norm();
    const double width = inflation * body.tolerance[s];
    columns.row(s).head(unknowns) = body.normals.row(s) / norm;
    columns(s, unknowns) = (body.centre[s] - width) / norm;
    columns.row(slabs + s).head(unknowns) = -body.normals.row(s) / norm;
    columns(slabs + s, unknowns) = (-body.centre[s] - width) / norm;
  }
  const Matrix gram = columns * columns.transpose();
  const Vector right = columns.col(unknowns);
  const Vector u = NonnegativeLeastSquares(gram, right).solve(context);
  const Vector residual = columns.transpose() * u - Vector::Unit(unknowns + 1, unknowns);
  if (!(std::abs(residual[unknowns]) > 1e-12)) return {};
  return -residual.head(unknowns) / residual[unknowns];
}

}  // namespace onset::mha
