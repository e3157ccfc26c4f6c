#include "onset/smi/limits/branch.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/solvers/roots.hpp"
#include "smi/limits/inner_nodes.hpp"

namespace onset::smi {
namespace {

using numerics::Interpolant;

/// A branch that starts from nothing is not evaluated below this log precision.
constexpr double min_log_precision = 1e-12;

/// The number of steps of the midpoint rule for the evidence along a branch.
constexpr int evidence_steps = 128;

/// Interpolation is of order four, so that halving the spacing divides the error by 16.
constexpr double order_factor = 16.0;

/// A replicate whose own start lies this close to a node skips that node.
constexpr double min_distance = 0.02;

double coordinate(double distance, double scale) {
  return std::log1p(std::max(0.0, distance) / scale);
}

double sum_at(const std::vector<numerics::Replicates>& rows, std::size_t r) {
  double sum = 0.0;
  for (const auto& row : rows) sum += row[r];
  return sum;
}

/// The largest error at the omitted nodes when only every other node is kept, over order_factor.
double interpolation_error(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    xs.push_back(x[i]);
    ys.push_back(y[i]);
  }
  if (xs.size() < 4) return 0.0;
  const Interpolant half(xs, ys);
  double worst = 0.0;
  for (std::size_t i = 1; i < x.size() && x[i] < half.back(); i += 2) {
    worst = std::max(worst, std::abs(half(x[i]) - y[i]));
  }
  return worst / order_factor;
}

/// The polynomial through the last points (three at most) of layer l, at a new x.
double extrapolate(const std::vector<double>& x,
                   const std::vector<std::vector<double>>& log_precision, std::size_t l,
                   double at) {
  const std::size_t first = x.size() > 3 ? x.size() - 3 : 0;
  double sum = 0.0;
  for (std::size_t i = first; i < x.size(); ++i) {
    double term = log_precision[i][l];
    for (std::size_t j = first; j < x.size(); ++j) {
      if (j != i) term *= (at - x[j]) / (x[i] - x[j]);
    }
    sum += term;
  }
  return sum;
}

}  // namespace

double StageStart::position(std::size_t replicate) const {
  return sum_at(log_precision, replicate);
}

namespace {

/// What log alpha has in addition to a smooth function of the log precision since the start of the
/// stage.
double singular_part(bool from_nothing, double log_precision) {
  return from_nothing ? std::log(-std::expm1(-std::max(log_precision, min_log_precision))) : 0.0;
}

}  // namespace

double Branch::Curve::log_alpha(double at) const {
  return smooth_log_alpha(at) + singular_part(from_nothing, log_precision_scale * std::expm1(at));
}

Branch::Curve Branch::make_curve(const StageStart& start, const std::vector<FixedPointNode>& nodes,
                                 std::size_t r) {
  const double origin = start.position(r);
  std::vector<double> x{0.0};
  std::vector<double> smooth{start.log_alpha[r]};
  std::vector<std::vector<double>> log_precision(start.log_precision.size());
  for (std::size_t l = 0; l < log_precision.size(); ++l)
    log_precision[l].push_back(start.log_precision[l][r]);
  for (const FixedPointNode& node : nodes) {
    if (node.position < origin + min_distance) continue;
    x.push_back(coordinate(node.position - origin, start.log_precision_scale));
    smooth.push_back(node.log_alpha[r] - singular_part(start.from_nothing, node.position - origin));
    for (std::size_t l = 0; l < log_precision.size(); ++l)
      log_precision[l].push_back(node.log_precision[l][r]);
  }
  Curve curve{origin,
              x,
              {},
              Interpolant(x, smooth),
              {},
              start.log_evidence[r],
              start.log_precision_scale,
              start.from_nothing};
  for (std::size_t i = 0; i < x.size(); ++i) {
    curve.log_alpha_nodes.push_back(
        smooth[i] +
        singular_part(start.from_nothing, start.log_precision_scale * std::expm1(x[i])));
  }
  for (auto& values : log_precision) curve.log_precision.emplace_back(x, std::move(values));
  return curve;
}

Branch::Branch(const std::vector<int>& rank, const StageStart& start,
               const std::vector<FixedPointNode>& nodes)
    : rank_(rank) {
  // The mean over replicates tells interpolation from noise.
  double origin = 0.0;
  for (const auto& log_precision : start.log_precision) origin += numerics::mean(log_precision);
  std::vector<double> x{0.0};
  std::vector<double> log_alpha{numerics::mean(start.log_alpha)};
  relative_bias_ = start.relative_bias;
  for (const auto& node : nodes) {
    x.push_back(coordinate(node.position - origin, start.log_precision_scale));
    log_alpha.push_back(numerics::mean(node.log_alpha) -
                        singular_part(start.from_nothing, node.position - origin));
    relative_bias_ = std::max(relative_bias_, node.relative_bias);
    positions_.push_back(node.position);
    layer_bias_.push_back(*std::max_element(node.gain_bias.begin(), node.gain_bias.end()));
  }
  interpolation_error_ = interpolation_error(x, log_alpha);
  relative_bias_ += interpolation_error_;
  for (std::size_t r = 0; r < start.log_alpha.size(); ++r) {
    curves_.push_back(make_curve(start, nodes, r));
  }
}

double Branch::overlap_bias(double position) const {
  const auto next = std::lower_bound(positions_.begin(), positions_.end(), position);
  const auto right =
      std::min(static_cast<std::size_t>(next - positions_.begin()), positions_.size() - 1);
  const std::size_t left = right > 0 ? right - 1 : 0;
  return std::max(layer_bias_[left], layer_bias_[right]) + interpolation_error_;
}

/// dPsi = (1/2) sum_b rank_b (Q_b / alpha) da_b along the curve [smi 23], by the midpoint rule in
/// a_b.
Branch::Point Branch::point(const Curve& curve, double x) const {
  Point result;
  // The total is known exactly, so the error that interpolation makes in it is shared out among the
  // blocks.
  const double total = curve.log_precision_scale * std::expm1(x);
  double interpolated = 0.0;
  for (const auto& d : curve.log_precision) interpolated += d(x) - d(0.0);
  const double correction = interpolated > 0.0 ? total / interpolated : 1.0;
  for (const auto& d : curve.log_precision) {
    result.log_precision.push_back(std::max(0.0, d(0.0) + correction * (d(x) - d(0.0))));
  }
  double evidence = 0.0;
  std::vector<double> before;
  for (const auto& d : curve.log_precision) before.push_back(d(0.0));
  for (int k = 0; k < evidence_steps && x > 0.0; ++k) {
    const double right = x * (k + 1) / evidence_steps;
    const double middle = x * (k + 0.5) / evidence_steps;
    const double alpha = std::exp(curve.log_alpha(middle));
    for (std::size_t l = 0; l < before.size(); ++l) {
      const double after = curve.log_precision[l](right);
      const double overlap = -std::expm1(-curve.log_precision[l](middle));
      evidence += 0.5 * rank_[l] * overlap / alpha * (after - before[l]);
      before[l] = after;
    }
  }
  result.log_evidence = curve.log_evidence_start + evidence;
  return result;
}

std::vector<Branch::Point> Branch::stable_points(std::size_t replicate, double log_alpha) const {
  const Curve& curve = curves_.at(replicate);
  std::vector<Point> points;
  for (std::size_t i = 0; i + 1 < curve.x.size(); ++i) {
    const double left = curve.log_alpha_nodes[i];
    const double right = curve.log_alpha_nodes[i + 1];
    if (!(left <= log_alpha && log_alpha < right)) continue;
    const auto f = [&](double x) { return curve.log_alpha(x) - log_alpha; };
    // At the nodes the interpolant is exact up to rounding.
    const double x =
        left == log_alpha ? curve.x[i] : numerics::bracketed_root(f, curve.x[i], curve.x[i + 1]).x;
    points.push_back(point(curve, x));
  }
  return points;
}

Branch::Point Branch::at_position(std::size_t replicate, double position) const {
  const Curve& curve = curves_.at(replicate);
  return point(curve, coordinate(position - curve.start, curve.log_precision_scale));
}

Branch::Point Branch::deepest(std::size_t replicate) const {
  const Curve& curve = curves_.at(replicate);
  return point(curve, curve.x.back());
}

double Branch::last_log_alpha(std::size_t replicate) const {
  return curves_.at(replicate).log_alpha_nodes.back();
}

namespace {

/// The second node and every so many after it are computed again with other inner nodes.
constexpr std::size_t check_spacing = 6;
/// Where four times as many inner nodes change log alpha by more than this, the branch goes on with
/// those.
constexpr double max_change = 0.03;
/// Where a bias falls like 1/n or faster, n and 4n nodes differ by at least this share of it.
constexpr double change_share = 0.75;

/// The bounds on bias that a fixed point states hold only where its inner integrals have so many
/// nodes that they behave as with infinitely many. How much changes with four times as many tells
/// how far they are from that [smi 85].
class BiasCheck {
 public:
  /// Compares the fixed point of this index with the same one computed with other inner nodes;
  /// returns the change of log alpha.
  double compare(std::size_t index, const FixedPointNode& node, const FixedPointNode& other) {
    const double change = systematic_change(node.log_alpha, other.log_alpha);
    checks_.push_back({index, change / change_share});
    return change;
  }

  /// Raises the bounds of every node to what the checks before and after it saw.
  void apply(std::vector<FixedPointNode>& nodes) const {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      double bound = 0.0;
      for (std::size_t k = 0; k < checks_.size(); ++k) {
        const bool after_another = k > 0 && checks_[k - 1].index >= i;
        const bool before_another = k + 1 < checks_.size() && checks_[k + 1].index <= i;
        if (!after_another && !before_another) bound = std::max(bound, checks_[k].bias);
      }
      nodes[i].relative_bias = std::max(nodes[i].relative_bias, bound);
      for (double& bias : nodes[i].gain_bias) bias = std::max(bias, bound);
    }
  }

 private:
  struct Check {
    std::size_t index;
    double bias;  // a bound on the bias of log alpha
  };
  std::vector<Check> checks_;
};

}  // namespace

std::vector<FixedPointNode> trace_branch(
    const BranchTrace& trace, const std::function<bool(const std::vector<FixedPointNode>&)>& enough,
    const Context& context) {
  const auto& [channels, slopes, learned, start, spacing, max_nodes] = trace;
  const std::size_t blocks = learned.size();
  std::vector<double> log_precision(blocks);
  for (std::size_t b = 0; b < blocks; ++b)
    log_precision[b] = numerics::mean(start.log_precision[b]);
  double origin = 0.0;
  for (const double a : log_precision) origin += a;
  const auto learned_count = std::count(learned.begin(), learned.end(), true);

  std::vector<FixedPointNode> nodes;
  std::size_t level = 0;  // the channel in use: what one point needed, those further on need too
  BiasCheck check;
  // These are the means so far against x, from which the next guess is made.
  std::vector<double> x{0.0};
  std::vector<std::vector<double>> known{log_precision};
  for (int k = 1; k <= max_nodes; ++k) {
    const double next_x = spacing * k;
    const double position = origin + start.log_precision_scale * std::expm1(next_x);
    std::vector<double> guess(blocks);
    for (std::size_t b = 0; b < blocks; ++b) {
      guess[b] =
          x.size() == 1
              ? log_precision[b] +
                    (learned[b] ? (position - origin) / static_cast<double>(learned_count) : 0.0)
              : extrapolate(x, known, b, next_x);
    }
    const auto solve = [&](std::size_t with) {
      return solve_fixed_point(channels[with], slopes, learned, position, guess, context);
    };
    FixedPointNode node = solve(level);
    while (node.status.reason == StopReason::inaccurate && level + 1 < channels.size()) {
      node = solve(++level);
    }
    if (node.status.reason == StopReason::unstable) continue;
    if (nodes.size() % check_spacing == 1 && node.status.converged() &&
        node.relative_bias > exact_bias) {
      const bool finer = level + 1 < channels.size();
      for (std::size_t b = 0; b < blocks; ++b) guess[b] = numerics::mean(node.log_precision[b]);
      FixedPointNode other = solve(finer ? level + 1 : level - 1);
      if (other.status.converged()) {
        const double change = check.compare(nodes.size(), node, other);
        if (finer && change > max_change) {
          ++level;
          node = std::move(other);
        }
      }
    }
    if (node.status.converged()) {
      for (std::size_t b = 0; b < blocks; ++b)
        log_precision[b] = numerics::mean(node.log_precision[b]);
      x.push_back(next_x);
      known.push_back(log_precision);
    }
    nodes.push_back(std::move(node));
    if (enough(nodes)) break;
  }
  check.apply(nodes);
  return nodes;
}

}  // namespace onset::smi
