#include "numerics/linear_algebra/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "numerics/linear_algebra/blas_buffers.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/fortran_names.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

using Numbers = std::vector<double>;

constexpr int max_iterations = 80;
/// Relative to the objective, to the cost and to the bounds.
constexpr double gap_tolerance = 1e-9;
constexpr double dual_tolerance = 1e-8;
constexpr double primal_tolerance = 1e-9;
/// The objective counts as this much at least, in units of |cost|.
constexpr double least_objective = 1e-6;
/// How much of the way to the boundary a step goes.
constexpr double step_share = 0.995;
/// Added to the diagonal of the normal equations, relative to its largest entry, until they can be
/// solved: rows may leave directions free.
constexpr double ridges[] = {0.0, 1e-14, 1e-12, 1e-10};

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const Numbers& a) {
  return std::sqrt(dot(a, a));
}

/// One bound: sign (row . x) <= sign * value, where the row is one of A, or a unit vector.
struct Bound {
  std::size_t row = 0;
  double sign = 1.0;
  bool single = false;  ///< whether it bounds an entry of x
};

/// All bounds of a program as G x <= h, with rows of A of unit length.
class Bounds {
 public:
  explicit Bounds(const LinearProgram& program)
      : columns_(program.cost.size()),
        rows_(program.row_lower.size()),
        matrix_(program.matrix),
        lengths_(rows_, 1.0) {
    for (std::size_t r = 0; r < rows_; ++r) {
      double square = 0.0;
      for (std::size_t c = 0; c < columns_; ++c) square += entry(r, c) * entry(r, c);
      if (!(square > 0.0)) continue;
      lengths_[r] = std::sqrt(square);
      for (std::size_t c = 0; c < columns_; ++c) entry(r, c) /= lengths_[r];
    }
    for (std::size_t r = 0; r < rows_; ++r) {
      add(r, 1.0, false, program.row_upper[r] / lengths_[r]);
      add(r, -1.0, false, program.row_lower[r] / lengths_[r]);
    }
    for (std::size_t c = 0; c < columns_; ++c) {
      add(c, 1.0, true, program.upper[c]);
      add(c, -1.0, true, program.lower[c]);
    }
  }

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t size() const { return bounds_.size(); }
  [[nodiscard]] const Numbers& right() const { return right_; }

  /// G x
  [[nodiscard]] Numbers times(const Numbers& x, const Context& context) const {
    Numbers products(rows_);
    multiply(view(), {x.data(), columns_, 1}, products, context);
    Numbers out;
    out.reserve(bounds_.size());
    for (const Bound& bound : bounds_) {
      out.push_back(bound.sign * (bound.single ? x[bound.row] : products[bound.row]));
    }
    return out;
  }

  /// G^T v
  [[nodiscard]] Numbers transposed(const Numbers& v, const Context& context) const {
    Numbers out(columns_);
    transpose_multiply(view(), {row_sums(v).data(), rows_, 1}, out, context);
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      if (bounds_[i].single) out[bounds_[i].row] += bounds_[i].sign * v[i];
    }
    return out;
  }

  /// G^T diag(v) G, its upper triangle by rows
  [[nodiscard]] Numbers weighted_square(const Numbers& v, const Context& context) const {
    Numbers weights(rows_);
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      if (!bounds_[i].single) weights[bounds_[i].row] += v[i];
    }
    Numbers scaled = matrix_;
    for (std::size_t r = 0; r < rows_; ++r) {
      const double root = std::sqrt(weights[r]);
      for (std::size_t c = 0; c < columns_; ++c) scaled[r * columns_ + c] *= root;
    }
    Numbers out(columns_ * columns_);
    square({scaled.data(), rows_, columns_}, out, context);
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      if (bounds_[i].single) out[bounds_[i].row * (columns_ + 1)] += v[i];
    }
    return out;
  }

  /// What multipliers v of G x <= h say about the rows of the program, in units of the cost.
  [[nodiscard]] Numbers row_multipliers(const Numbers& v, double cost) const {
    Numbers out = row_sums(v);
    for (std::size_t r = 0; r < rows_; ++r) out[r] *= -cost / lengths_[r];
    return out;
  }

 private:
  double& entry(std::size_t r, std::size_t c) { return matrix_[r * columns_ + c]; }
  [[nodiscard]] MatrixView view() const { return {matrix_.data(), rows_, columns_}; }

  void add(std::size_t row, double sign, bool single, double value) {
    if (!std::isfinite(value)) return;
    bounds_.push_back({row, sign, single});
    right_.push_back(sign * value);
  }

  [[nodiscard]] Numbers row_sums(const Numbers& v) const {
    Numbers sums(rows_);
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
      if (!bounds_[i].single) sums[bounds_[i].row] += bounds_[i].sign * v[i];
    }
    return sums;
  }

  std::size_t columns_;
  std::size_t rows_;
  Numbers matrix_;
  Numbers lengths_;  // of the rows, by which they were divided
  std::vector<Bound> bounds_;
  Numbers right_;
};

/// A symmetric positive definite matrix, factorised.
class Factor {
 public:
  Factor(const Numbers& matrix, std::size_t size) : size_(size) {
    double largest = 0.0;
    for (std::size_t c = 0; c < size; ++c) largest = std::max(largest, matrix[c * (size + 1)]);
    const int n = static_cast<int>(size);
    const BlasCall call;
    for (const double ridge : ridges) {
      matrix_ = matrix;
      for (std::size_t c = 0; c < size; ++c) matrix_[c * (size + 1)] += ridge * largest;
      int info = 0;
      dpotrf_("L", &n, matrix_.data(), &n, &info);  // the upper triangle by rows is the lower one
      sound_ = info == 0;                           // by columns
      if (sound_) return;
    }
  }
  [[nodiscard]] bool sound() const { return sound_; }
  [[nodiscard]] Numbers solve(Numbers right) const {
    const int n = static_cast<int>(size_);
    const int one = 1;
    int info = 0;
    const BlasCall call;
    dpotrs_("L", &n, &one, matrix_.data(), &n, right.data(), &n, &info);
    return right;
  }

 private:
  Numbers matrix_;
  std::size_t size_;
  bool sound_ = false;
};

/// The largest step up to 1 that keeps v + step * change nonnegative.
double longest_step(const Numbers& v, const Numbers& change) {
  double step = 1.0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (change[i] < 0.0) step = std::min(step, -v[i] / change[i]);
  }
  return step;
}

void add_scaled(Numbers& v, double step, const Numbers& change) {
  for (std::size_t i = 0; i < v.size(); ++i) v[i] += step * change[i];
}

/// Minimises cost . x + curvature |x|^2/2 under G x + slack = h with multipliers of slack >= 0,
/// from outside.
class PredictorCorrector {
 public:
  PredictorCorrector(const LinearProgram& program, double curvature, const Context& context)
      : context_(context), bounds_(program), cost_(program.cost), cost_size_(norm(program.cost)) {
    if (!(cost_size_ > 0.0)) cost_size_ = 1.0;
    for (double& c : cost_) c /= cost_size_;
    curvature_ = curvature / cost_size_;
  }

  LinearSolution solve() {
    LinearSolution out;
    if (!start()) return out;
    out.optimal = descend();
    out.objective = objective() * cost_size_;
    out.multipliers = bounds_.row_multipliers(multiplier_, cost_size_);
    out.x = std::move(x_);
    return out;
  }

 private:
  struct Step {
    Numbers x;
    Numbers slack;
    Numbers multiplier;
  };

  [[nodiscard]] double objective() const { return dot(cost_, x_) + 0.5 * curvature_ * dot(x_, x_); }

  /// curvature + G^T diag(weights) G
  [[nodiscard]] Factor normal_equations(const Numbers& weights) const {
    Numbers matrix = bounds_.weighted_square(weights, context_);
    for (std::size_t c = 0; c < bounds_.columns(); ++c) {
      matrix[c * (bounds_.columns() + 1)] += curvature_;
    }
    return {matrix, bounds_.columns()};
  }

  /// Mehrotra's start: least squares on both sides, moved inside.
  bool start() {
    const Factor factor = normal_equations(Numbers(bounds_.size(), 1.0));
    if (!factor.sound()) return false;
    x_ = factor.solve(bounds_.transposed(bounds_.right(), context_));
    const Numbers reached = bounds_.times(x_, context_);
    Numbers slope = cost_;
    add_scaled(slope, curvature_, x_);
    multiplier_ = bounds_.times(factor.solve(slope), context_);
    slack_.resize(reached.size());
    for (std::size_t i = 0; i < reached.size(); ++i) {
      slack_[i] = bounds_.right()[i] - reached[i];
      multiplier_[i] = -multiplier_[i];
    }
    lift(slack_, 1.5);
    lift(multiplier_, 1.5);
    const double product = dot(slack_, multiplier_);
    double slacks = 0.0;
    double multipliers = 0.0;
    for (std::size_t i = 0; i < slack_.size(); ++i) {
      slacks += slack_[i];
      multipliers += multiplier_[i];
    }
    for (double& s : slack_) s += multipliers > 0.0 ? 0.5 * product / multipliers : 1.0;
    for (double& l : multiplier_) l += slacks > 0.0 ? 0.5 * product / slacks : 1.0;
    return *std::min_element(slack_.begin(), slack_.end()) > 0.0 &&
           *std::min_element(multiplier_.begin(), multiplier_.end()) > 0.0;
  }

  /// Adds to all entries what makes the least one positive.
  static void lift(Numbers& v, double factor) {
    const double least = *std::min_element(v.begin(), v.end());
    if (least >= 0.0) return;
    for (double& entry : v) entry -= factor * least;
  }

  bool descend() {
    const double right_size = 1.0 + norm(bounds_.right());
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
      context_.check();
      measure();
      const double gap = dot(slack_, multiplier_);
      if (gap <= gap_tolerance * std::max(least_objective, std::abs(objective())) &&
          norm(dual_) <= dual_tolerance && norm(primal_) <= primal_tolerance * right_size) {
        return true;
      }
      if (!step(gap / static_cast<double>(bounds_.size()))) return false;
    }
    return false;
  }

  /// What the present point misses: the objective's slope + G^T multiplier, and G x + slack - h.
  void measure() {
    dual_ = bounds_.transposed(multiplier_, context_);
    add_scaled(dual_, 1.0, cost_);
    add_scaled(dual_, curvature_, x_);
    primal_ = bounds_.times(x_, context_);
    for (std::size_t i = 0; i < primal_.size(); ++i) {
      primal_[i] += slack_[i] - bounds_.right()[i];
    }
  }

  bool step(double mean) {
    ratio_.resize(slack_.size());
    for (std::size_t i = 0; i < slack_.size(); ++i) ratio_[i] = multiplier_[i] / slack_[i];
    const Factor factor = normal_equations(ratio_);
    if (!factor.sound()) return false;
    Numbers wanted(slack_.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = slack_[i] * multiplier_[i];
    const Step predicted = direction(factor, wanted);
    const double along_slack = longest_step(slack_, predicted.slack);
    const double along_multiplier = longest_step(multiplier_, predicted.multiplier);
    double reached = 0.0;
    for (std::size_t i = 0; i < slack_.size(); ++i) {
      reached += (slack_[i] + along_slack * predicted.slack[i]) *
                 (multiplier_[i] + along_multiplier * predicted.multiplier[i]);
    }
    const double share = reached / (mean * static_cast<double>(slack_.size()));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      wanted[i] += predicted.slack[i] * predicted.multiplier[i] - share * share * share * mean;
    }
    const Step corrected = direction(factor, wanted);
    const auto shortened = [](double length) { return length < 1.0 ? step_share * length : 1.0; };
    double primal_step = shortened(longest_step(slack_, corrected.slack));
    double dual_step = shortened(longest_step(multiplier_, corrected.multiplier));
    // With curvature the slope depends on x, and both must go equally far.
    if (curvature_ > 0.0) primal_step = dual_step = std::min(primal_step, dual_step);
    add_scaled(x_, primal_step, corrected.x);
    add_scaled(slack_, primal_step, corrected.slack);
    add_scaled(multiplier_, dual_step, corrected.multiplier);
    return std::isfinite(objective());
  }

  /// Newton's direction towards feasibility with slack * multiplier lowered by `lowered`.
  [[nodiscard]] Step direction(const Factor& factor, const Numbers& lowered) const {
    Numbers inner(slack_.size());
    for (std::size_t i = 0; i < inner.size(); ++i) {
      inner[i] = lowered[i] / slack_[i] - ratio_[i] * primal_[i];
    }
    Numbers right = bounds_.transposed(inner, context_);
    add_scaled(right, -1.0, dual_);
    Step out;
    out.x = factor.solve(right);
    // One refinement: near the end the normal equations are badly conditioned.
    Numbers along = bounds_.times(out.x, context_);
    for (std::size_t i = 0; i < along.size(); ++i) along[i] *= ratio_[i];
    add_scaled(right, -1.0, bounds_.transposed(along, context_));
    add_scaled(right, -curvature_, out.x);
    add_scaled(out.x, 1.0, factor.solve(right));
    along = bounds_.times(out.x, context_);
    out.slack.resize(along.size());
    out.multiplier.resize(along.size());
    for (std::size_t i = 0; i < along.size(); ++i) {
      out.slack[i] = -primal_[i] - along[i];
      out.multiplier[i] = ratio_[i] * (primal_[i] + along[i]) - lowered[i] / slack_[i];
    }
    return out;
  }

  const Context& context_;
  Bounds bounds_;
  Numbers cost_;  // of unit length
  double cost_size_;
  double curvature_ = 0.0;
  Numbers x_;
  Numbers slack_;
  Numbers multiplier_;
  Numbers dual_;
  Numbers primal_;
  Numbers ratio_;  // multiplier over slack
};

}  // namespace

LinearSolution solve_inside(const LinearProgram& program, const Context& context) {
  check_sizes(program);
  context.check();
  return PredictorCorrector(program, 0.0, context).solve();
}

LinearSolution nearest_to_zero(LinearProgram program, const Context& context) {
  std::fill(program.cost.begin(), program.cost.end(), 0.0);
  check_sizes(program);
  context.check();
  return PredictorCorrector(program, 1.0, context).solve();
}

}  // namespace onset::numerics
