#include "smi/limits/typed/typed_branch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/solvers/roots.hpp"
#include "smi/limits/branch_end.hpp"
#include "smi/limits/typed/typed_checks.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// A shape of V that changes by less is one, relatively.
constexpr double settled_shape = 1e-3;
constexpr int max_shape_steps = 20;
/// Most points per replicate that find the shape of V.
constexpr std::size_t shape_points = 256;
/// Standard errors beyond which alpha is said to fall or to rise.
constexpr double significant = 3.0;

/// Log precisions per direction at which a branch is looked at: close where stages begin, and to
/// where V has fallen to 1e-5.
double step_after(double log_precision) {
  if (log_precision < 0.04) return 0.025;
  if (log_precision < early_log_precision) return 0.05;
  if (log_precision < 0.2) return 0.15;
  if (log_precision < 2.0) return 0.25;
  return log_precision < 6.0 ? 0.5 : 1.0;
}
constexpr double last_log_precision = 12.0;
/// The nodes across the top of a fold: enough to leave every second one out.
constexpr std::size_t top_nodes = 9;
/// Lines are laid at most so much closer than by default.
constexpr double max_refinement = 8.0;

template <class Part>
Replicates top_eigenvalues(const std::vector<TypedAverages>& averages, const Part& part) {
  const Eigen::MatrixXd mean = mean_of(averages, part);
  const auto count = static_cast<double>(averages.size());
  Replicates out;
  for (const TypedAverages& one : averages) {
    const Eigen::MatrixXd& own = part(one);
    const Eigen::MatrixXd others = count > 1.0 ? Eigen::MatrixXd(count * mean - own) : own;
    const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(others);
    const Eigen::VectorXd top = eigen.vectors.rightCols(1);
    out.push_back(top.dot(own * top));
  }
  return out;
}

FixedPointNode node_of(const TypedBranch::Point& point) {
  FixedPointNode node;
  node.position = point.position;
  node.log_alpha = numerics::map(point.alpha, [](double a) { return std::log(a); });
  node.relative_bias = ratio_bias(point.averages);
  return node;
}

bool is_lower(const FixedPointNode& a, const FixedPointNode& b) {
  return numerics::mean(a.log_alpha) < numerics::mean(b.log_alpha);
}

}  // namespace

std::size_t branch_points() {
  std::size_t points = 0;
  for (double s = 0.0; s < last_log_precision; s += step_after(s)) ++points;
  return points;
}

Replicates growth_rates(const std::vector<TypedAverages>& averages) {
  return top_eigenvalues(averages,
                         [](const TypedAverages& a) -> const Eigen::MatrixXd& { return a.growth; });
}

Replicates pulls(const std::vector<TypedAverages>& averages) {
  return top_eigenvalues(averages,
                         [](const TypedAverages& a) -> const Eigen::MatrixXd& { return a.pull; });
}

TypedBranch::TypedBranch(const TypedLink& link, TypedRoles roles, Eigen::MatrixXd open,
                         std::uint64_t seed, const Context& context)
    : link_(&link),
      context_(&context),
      roles_(std::move(roles)),
      open_(std::move(open)),
      seed_(seed),
      basis_(commuting_basis(link, roles_)) {}

std::vector<TypedAverages> TypedBranch::averages(const Eigen::MatrixXd& variance,
                                                 std::size_t points, double refinement) const {
  const Eigen::Index exact = roles_.exact.cols();
  const Eigen::Index learned = roles_.learned.cols();
  KnownDirections state;
  state.known.resize(roles_.learned.rows(), exact + learned);
  state.known << roles_.exact, roles_.learned;
  state.open = open_;
  state.overlap = Eigen::MatrixXd::Identity(exact + learned, exact + learned);
  state.overlap.bottomRightCorner(learned, learned) -= variance;
  TypedChannelOptions options;
  options.points = points;
  options.seed = seed_;
  options.refinement = refinement;
  std::vector<TypedAverages> out = typed_channel(*link_, state, options, *context_);
  for (TypedAverages& one : out) {
    one.precision = one.precision.bottomRightCorner(learned, learned).eval();
  }
  return out;
}

Eigen::MatrixXd TypedBranch::variance_at(double position, Eigen::MatrixXd variance,
                                         std::size_t points) const {
  if (basis_.size() == 1) {
    return Eigen::MatrixXd::Identity(size(), size()) *
           std::exp(-position / static_cast<double>(size()));
  }
  for (int step = 0; step < max_shape_steps; ++step) {
    const Eigen::MatrixXd mean =
        mean_of(averages(variance, std::min(points, shape_points), 1.0),
                [](const TypedAverages& a) -> const Eigen::MatrixXd& { return a.precision; });
    Eigen::MatrixXd precision = Eigen::MatrixXd::Zero(size(), size());
    for (const Eigen::MatrixXd& b : basis_) precision += b.cwiseProduct(mean).sum() * b;
    // V^-1 - I is a multiple of the precision matrix.
    const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(precision);
    const auto excess = [&](double log_alpha) {
      double sum = -position;
      for (const double lambda : eigen.values) {
        sum += std::log1p(std::exp(log_alpha) * std::max(0.0, lambda));
      }
      return sum;
    };
    const double alpha = std::exp(numerics::bracketed_root(excess, -40.0, 40.0).x);
    const Eigen::VectorXd left = (1.0 + alpha * eigen.values.array().max(0.0)).inverse();
    const Eigen::MatrixXd next = eigen.vectors * left.asDiagonal() * eigen.vectors.transpose();
    const double change = (next - variance).norm() / variance.norm();
    variance = next;
    if (change < settled_shape) break;
  }
  return variance;
}

TypedBranch::Point TypedBranch::at(double position, const Eigen::MatrixXd& guess,
                                   std::size_t points, double refinement) const {
  Point out;
  out.position = position;
  out.variance = variance_at(position, guess, points);
  out.averages = averages(out.variance, points, refinement);
  const double wanted =
      (numerics::symmetric_eigen(out.variance).values.array().inverse() - 1.0).sum();
  for (const TypedAverages& one : out.averages) {
    out.alpha.push_back(wanted / one.precision.trace());
  }
  if (open_.cols() == 0) return out;
  const Replicates nu = growth_rates(out.averages);
  for (std::size_t r = 0; r < nu.size(); ++r) {
    out.residual.push_back(out.alpha[r] * nu[r] - 1.0);
  }
  return out;
}

double TypedBranch::overlap(const Eigen::MatrixXd& variance,
                            const Eigen::MatrixXd& directions) const {
  const Eigen::MatrixXd parts = roles_.learned.transpose() * directions;
  const Eigen::MatrixXd q = Eigen::MatrixXd::Identity(variance.rows(), variance.cols()) - variance;
  return (parts.transpose() * q * parts).trace() / static_cast<double>(directions.cols());
}

const TypedBranch::Point* TypedTrace::at(std::size_t k) {
  const auto size = static_cast<double>(branch_.size());
  while (found_.size() <= k) {
    const bool is_first = found_.empty();
    const double before = is_first ? 0.0 : found_.back().position / size;
    if (before >= last_log_precision) return nullptr;
    const double step = step_after(before);
    const Eigen::MatrixXd guess = is_first
                                      ? Eigen::MatrixXd::Identity(branch_.size(), branch_.size())
                                      : found_.back().variance;
    found_.push_back(branch_.at((before + step) * size, std::exp(-step) * guess, points_));
  }
  return &found_[k];
}

Estimate TypedTrace::alpha_of(const TypedBranch::Point& point) {
  return exponential(node_of(point).log_alpha, ratio_bias(point.averages));
}

int TypedTrace::direction(const Estimate& from, const TypedBranch::Point& to) {
  const Estimate now = alpha_of(to);
  const double apart = now.value - from.value;
  if (std::abs(apart) <= significant * std::hypot(now.error, from.error)) return 0;
  return apart > 0.0 ? 1 : -1;
}

std::optional<std::size_t> TypedTrace::fold(std::size_t end) const {
  std::size_t top = 0;
  for (std::size_t k = 1; k < std::min(end, found_.size()); ++k) {
    // Both points have the same labels: what they share does not count.
    Replicates rise;
    for (std::size_t r = 0; r < found_[k].alpha.size(); ++r) {
      rise.push_back(std::log(found_[k].alpha[r] / found_[top].alpha[r]));
    }
    const double bias =
        std::hypot(ratio_bias(found_[k].averages), ratio_bias(found_[top].averages));
    const Estimate change = numerics::reduce(rise, bias);
    const double log_precision = found_[k].position / static_cast<double>(branch_.size());
    const bool is_early = log_precision < early_log_precision;
    if (!is_early && change.value < -significant * change.error) return top;
    if (change.value > 0.0) top = k;
  }
  return std::nullopt;
}

Eigen::MatrixXd TypedTrace::guess_at(double position) const {
  const auto after = std::find_if(found_.begin(), found_.end(),
                                  [&](const auto& point) { return point.position >= position; });
  if (after == found_.end()) return found_.back().variance;
  if (after == found_.begin()) {
    const double t = position / after->position;
    const auto size = after->variance.rows();
    return (1.0 - t) * Eigen::MatrixXd::Identity(size, size) + t * after->variance;
  }
  const double t = (position - (after - 1)->position) / (after->position - (after - 1)->position);
  return (1.0 - t) * (after - 1)->variance + t * after->variance;
}

bool BranchEffort::grow(const Estimate& alpha, double relative_bias) {
  const double allowed = wanted_.tolerance * std::max(1.0, alpha.value);
  if (alpha.error <= allowed) return false;
  if (relative_bias * alpha.value > 0.5 * allowed) {
    if (refinement_ >= max_refinement) return false;
    refinement_ *= 2.0;
    return true;
  }
  if (points_ >= wanted_.max_points) return false;
  // Scatter falls nearly like the inverse of the number of points.
  const double factor = std::exp2(std::ceil(std::log2(alpha.error / allowed)));
  points_ = std::min(points_ * static_cast<std::size_t>(std::clamp(factor, 2.0, 16.0)),
                     wanted_.max_points);
  return true;
}

Estimate TypedTrace::top(std::size_t k, const BranchAccuracy& wanted) {
  // The window around the top, in log s.
  static_cast<void>(at(k + 2));  // the trace reaches as far
  double low = std::log(found_[k < 2 ? 0 : k - 2].position);
  double high = std::log(found_[std::min(k + 2, found_.size() - 1)].position);
  BranchEffort effort(wanted);
  while (true) {
    std::vector<FixedPointNode> nodes;
    for (std::size_t i = 0; i < top_nodes; ++i) {
      const double position =
          std::exp(low + (high - low) * static_cast<double>(i) / (top_nodes - 1.0));
      nodes.push_back(
          node_of(branch_.at(position, guess_at(position), effort.points(), effort.refinement())));
    }
    const Estimate top = max_alpha(nodes);
    const auto highest = std::max_element(nodes.begin(), nodes.end(), is_lower);
    if (!effort.grow(top, highest->relative_bias)) return top;
    // Half of the window, around the highest node, against what interpolation leaves out.
    const double half = 0.25 * (high - low);
    const double middle = std::log(highest->position);
    low = middle - half;
    high = middle + half;
  }
}

Estimate TypedTrace::landing(const Estimate& alpha, std::size_t from,
                             const Eigen::MatrixXd& directions) {
  bool has_fallen = false;
  for (std::size_t k = from; at(k) != nullptr; ++k) {
    const Estimate now = alpha_of(found_[k]);
    has_fallen = has_fallen || now.value < alpha.value;
    if (!has_fallen || now.value < alpha.value || k == 0) continue;
    const Estimate before = alpha_of(found_[k - 1]);
    const double width = std::log(now.value / before.value);
    const double t = std::log(alpha.value / before.value) / width;
    const double low = branch_.overlap(found_[k - 1].variance, directions);
    const double high = branch_.overlap(found_[k].variance, directions);
    // What the errors of both sample ratios move it by, and what a straight line leaves out.
    const double moved = (high - low) / width * std::hypot(alpha.error, now.error) / alpha.value;
    constexpr double straight = 0.125;
    return {low + t * (high - low), std::hypot(moved, straight * (high - low))};
  }
  return {1.0, 0.0};
}

TypedRecovery recovery_along(TypedTrace& trace, double perfect, const BranchAccuracy& wanted) {
  for (std::size_t k = 0; trace.at(k) != nullptr; ++k) continue;
  std::vector<FixedPointNode> nodes;
  for (const TypedBranch::Point& point : trace.points()) nodes.push_back(node_of(point));
  // Next to its end, which is known, a branch scatters less relative to it than by itself.
  const std::vector<FixedPointNode> anchored = anchored_at_end(nodes, perfect);
  const Estimate relative = max_alpha(anchored);
  const Estimate absolute = max_alpha(nodes);
  const Estimate top = relative.error < absolute.error ? relative : absolute;
  TypedRecovery out;
  out.below = std::max(perfect, std::min(upper_bound(anchored), upper_bound(nodes)));
  out.hard_phase = top.value - perfect > significant * top.error;
  out.algorithmic = out.hard_phase ? top : Estimate{perfect, 0.0};
  if (out.algorithmic.error > wanted.tolerance * std::max(1.0, top.value)) {
    const auto highest = std::max_element(nodes.begin(), nodes.end(), is_lower);
    out.algorithmic = trace.top(static_cast<std::size_t>(highest - nodes.begin()), wanted);
  }
  return out;
}

}  // namespace onset::smi
