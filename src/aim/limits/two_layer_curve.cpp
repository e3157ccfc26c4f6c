#include "aim/limits/two_layer_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/prose.hpp"
#include "numerics/parallel.hpp"
#include "numerics/point_sets/sobol.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

constexpr int points_bits = 9;
constexpr std::size_t point_count = std::size_t{1} << static_cast<unsigned>(points_bits);
/// Known and unknown parts of two fields of two layers.
constexpr double fields_of_a_layer = 2.0;
constexpr int dimensions = 8;

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Errors at which one starts from almost everything known.
constexpr double almost_known = 1e-4;
/// The sample ratio, in units of that of perfect recovery, that is looked at in its place.
constexpr double almost_recovered = 0.98;
/// Relative changes of an error: those from which Newton's method takes over from the iteration,
/// and those at which a fixed point is found (far below the scatter of replicates).
constexpr double near_fixed_point = 0.02;
constexpr double at_fixed_point = 1e-7;
constexpr double derivative_step = 1e-4;
constexpr int max_iterations = 400;

/// The fields of a sample: sqrt(C) z with the symmetric root of the covariance 3, 1, 3.
PairFields drawn_fields(double one, double two, double variance) {
  constexpr double even = std::numbers::sqrt2;  // roots of the eigenvalues 4 and 2 over sqrt(2)
  const double plus = even * (one + two);
  const double minus = one - two;
  const double deviation = std::sqrt(variance);
  return {deviation * (plus + minus) / std::numbers::sqrt2,
          deviation * (plus - minus) / std::numbers::sqrt2};
}

PairMatrix scaled_covariance(double variance) {
  return {pair_covariance[0] * variance, pair_covariance[1] * variance,
          pair_covariance[2] * variance};
}

/// Solves the fixed point of one replicate.
class FixedPoint {
 public:
  FixedPoint(const TwoLayerChannel& channel, double alpha, const Context& context)
      : channel_(channel), alpha_(alpha), context_(context) {}

  struct Solution {
    PerLayer mmse{};
    TwoLayerInformation information;
    Status status;
  };

  /// The iteration of state evolution from these errors on.
  [[nodiscard]] Solution from(PerLayer v) const {
    Solution s{v, channel_.at(v), {}};
    while (s.status.iterations < max_iterations) {
      context_.check();
      const PerLayer step = log_change(s);
      s.status.residual = std::max(std::abs(step[0]), std::abs(step[1]));
      if (s.status.residual < at_fixed_point) {
        s.status.reason = StopReason::converged;
        return s;
      }
      ++s.status.iterations;
      if (s.status.residual < near_fixed_point && try_newton(step, s)) continue;
      move(step, s);
    }
    return s;
  }

 private:
  /// log V' - log V = -log(V + 2 alpha E_hat) [aim 46].
  [[nodiscard]] PerLayer log_change(const Solution& s) const {
    PerLayer out{};
    for (std::size_t l = 0; l < 2; ++l) {
      out[l] = -std::log(s.mmse[l] + 2.0 * alpha_ * s.information.layer[l]);
    }
    return out;
  }

  void move(const PerLayer& step, Solution& s) const {
    for (std::size_t l = 0; l < 2; ++l) s.mmse[l] = std::min(1.0, s.mmse[l] * std::exp(step[l]));
    s.information = channel_.at(s.mmse);
  }

  /// One step of Newton's method in the logarithms of the errors, kept if it brings the change
  /// nearer to 0.
  [[nodiscard]] bool try_newton(const PerLayer& step, Solution& s) const {
    std::array<PerLayer, 2> slope{};  // slope[k][l] = d step_l / d log V_k
    for (std::size_t k = 0; k < 2; ++k) {
      Solution moved = s;
      moved.mmse[k] *= 1.0 - derivative_step;
      moved.information = channel_.at(moved.mmse);
      const PerLayer other = log_change(moved);
      const double distance = std::log1p(-derivative_step);
      for (std::size_t l = 0; l < 2; ++l) slope[k][l] = (other[l] - step[l]) / distance;
    }
    const double det = slope[0][0] * slope[1][1] - slope[0][1] * slope[1][0];
    const PerLayer newton{(slope[1][0] * step[1] - slope[1][1] * step[0]) / det,
                          (slope[0][1] * step[0] - slope[0][0] * step[1]) / det};
    constexpr double far = 1.0;
    if (!(std::abs(newton[0]) < far && std::abs(newton[1]) < far)) return false;
    Solution next = s;
    move(newton, next);
    const PerLayer left = log_change(next);
    if (std::max(std::abs(left[0]), std::abs(left[1])) > 0.5 * s.status.residual) return false;
    s = next;
    return true;
  }

  const TwoLayerChannel& channel_;
  double alpha_;
  const Context& context_;
};

/// Over d^2, counted from nothing known [aim 47].
double free_entropy(const FixedPoint::Solution& s, double alpha, double unknown_density) {
  double sum = alpha * (s.information.log_density - unknown_density);
  for (std::size_t l = 0; l < 2; ++l) {
    const double conjugate = 1.0 / s.mmse[l] - 1.0;
    sum += 0.25 * (s.mmse[l] * conjugate - std::log1p(conjugate));
  }
  return sum;
}

/// What one replicate says of one alpha.
struct ReplicatePoint {
  FixedPoint::Solution best;
  double free_entropy = 0.0;
  bool hard = false;
};

bool same_point(const PerLayer& a, const PerLayer& b) {
  constexpr double same = 1e-3;
  return std::abs(a[0] - b[0]) < same && std::abs(a[1] - b[1]) < same;
}

/// Where state evolution goes from nothing known, and from almost everything.
struct Branches {
  FixedPoint::Solution uninformed;
  FixedPoint::Solution informed;
};

Branches both_branches(const TwoLayerChannel& channel, double alpha, const Context& context) {
  const FixedPoint fixed_point(channel, alpha, context);
  return {fixed_point.from({1.0, 1.0}), fixed_point.from({almost_known, almost_known})};
}

/// The fixed point of one replicate, searched from those of the first one.
ReplicatePoint solve_replicate(const FixedPoint& fixed_point, double alpha, const Branches& first,
                               double unknown_density) {
  const auto uninformed = fixed_point.from(first.uninformed.mmse);
  const double low = free_entropy(uninformed, alpha, unknown_density);
  if (same_point(first.uninformed.mmse, first.informed.mmse)) return {uninformed, low, false};
  const auto informed = fixed_point.from(first.informed.mmse);
  const double high = free_entropy(informed, alpha, unknown_density);
  if (high > low) return {informed, high, true};
  return {uninformed, low, false};
}

/// How an error of E_hat moves that of the matrix: V = 1 - 2 alpha E_hat at a fixed point, and the
/// fixed point follows. Errors of inner integrals are far too small for more than an order of
/// magnitude to matter.
constexpr double max_amplification = 10.0;

/// Whether all replicates ended in the same way.
Status common_status(const std::vector<ReplicatePoint>& all) {
  Status status = all.front().best.status;
  for (const ReplicatePoint& p : all) {
    const Status& own = p.best.status;
    status.iterations = std::max(status.iterations, own.iterations);
    status.residual = std::max(status.residual, own.residual);
    if (own.reason == StopReason::unfinished) status.reason = StopReason::unfinished;
    if (p.hard != all.front().hard) status.reason = StopReason::inaccurate;
  }
  return status;
}

/// Everything is known: hard where state evolution that starts from nothing ends elsewhere.
TwoLayerPoint recovered_point(double alpha, const Branches& before) {
  TwoLayerPoint point;
  point.alpha = alpha;
  point.conjugate = {Estimate{infinite, 0.0}, Estimate{infinite, 0.0}};
  point.hard = !same_point(before.uninformed.mmse, before.informed.mmse);
  point.status = {StopReason::recovered, before.uninformed.status.iterations, 0.0};
  return point;
}

TwoLayerPoint reduce_point(double alpha, const std::vector<ReplicatePoint>& all) {
  TwoLayerPoint point;
  point.alpha = alpha;
  point.hard = all.front().hard;
  point.status = common_status(all);
  const auto over_replicates = [&](auto value, double bias) {
    std::vector<double> values;
    for (const ReplicatePoint& p : all) values.push_back(value(p));
    return numerics::reduce(values, bias);
  };
  const double bias =
      over_replicates([](const ReplicatePoint& p) { return p.best.information.bias; }, 0.0).value;
  for (std::size_t l = 0; l < 2; ++l) {
    point.mmse[l] = over_replicates([l](const ReplicatePoint& p) { return p.best.mmse[l]; },
                                    2.0 * alpha * max_amplification * bias);
    const double slope = 1.0 / (point.mmse[l].value * point.mmse[l].value);
    point.conjugate[l] = {1.0 / point.mmse[l].value - 1.0, slope * point.mmse[l].error};
  }
  point.free_entropy =
      over_replicates([](const ReplicatePoint& p) { return p.free_entropy; }, alpha * bias);
  return point;
}

}  // namespace

TwoLayerChannel::TwoLayerChannel(const TwoLayers& model, std::uint64_t seed,
                                 std::uint64_t replicate)
    : model_(model), normals_(point_count * dimensions) {
  numerics::scrambled_sobol_prefix(dimensions, seed, replicate, points_bits)
      ->points(0, point_count, normals_);
  numerics::simd::normal_quantile(normals_, normals_);
}

TwoLayerInformation TwoLayerChannel::at(const PerLayer& mmse) const {
  TwoLayerInformation out;
  const std::array<PairMatrix, 2> covariance{scaled_covariance(mmse[0]),
                                             scaled_covariance(mmse[1])};
  for (std::size_t i = 0; i < point_count; ++i) {
    const auto normal = [&](std::size_t d) { return normals_[d * point_count + i]; };
    std::array<PairLaw, 2> law{};
    std::array<PairFields, 2> truth{};
    for (std::size_t l = 0; l < 2; ++l) {
      law[l] = {drawn_fields(normal(4 * l), normal(4 * l + 1), 1.0 - mmse[l]), covariance[l]};
      const PairFields unknown = drawn_fields(normal(4 * l + 2), normal(4 * l + 3), mmse[l]);
      truth[l] = {law[l].mean[0] + unknown[0], law[l].mean[1] + unknown[1]};
    }
    const TwoLayerMoments m = two_layer_posterior(model_, model_.shown(truth[0], truth[1]), law);
    for (std::size_t l = 0; l < 2; ++l) out.layer[l] += fields_of_a_layer - m.unknown[l];
    out.log_density += m.log_density;
    out.bias += m.error;
  }
  constexpr double share = 1.0 / static_cast<double>(point_count);
  for (double& x : out.layer) x *= share;
  out.log_density *= share;
  out.bias *= share;
  return out;
}

InformationPlan two_layer_plan() {
  return {.method = prose(R"(
      State evolution of two layers iterated from nothing and from almost everything known, then
      Newton's method, by 16 replicates of 512 scrambled Sobol points; what one label
      tells is an integral over the two fields of the first layer by trapezoid rules.)"),
          .core_seconds = 11.0,
          .tolerance = 1e-3};
}

double two_layer_recovery(const AttentionIndexed& model) {
  return model.layers / (2.0 * (model.scores() - 1.0));
}

std::vector<TwoLayerPoint> two_layer_curve(const AttentionIndexed& model,
                                           std::span<const double> alphas, std::uint64_t seed,
                                           const Context& context) {
  constexpr auto replicates = static_cast<std::size_t>(numerics::default_replicates);
  const TwoLayers network{model.beta, model.skip};
  std::vector<TwoLayerChannel> channels;
  for (std::size_t r = 0; r < replicates; ++r) channels.emplace_back(network, seed, r);
  std::vector<double> unknown(replicates);
  numerics::parallel_for(context, replicates, [&](std::size_t r) {
    unknown[r] = channels[r].at({1.0, 1.0}).log_density;
  });
  std::vector<Branches> branches(alphas.size());
  const auto is_recoverable = [&](double alpha) { return alpha >= two_layer_recovery(model); };
  numerics::parallel_for(context, alphas.size(), [&](std::size_t i) {
    // From perfect recovery on it is asked only whether the last fixed point before it was reached.
    const double alpha =
        is_recoverable(alphas[i]) ? almost_recovered * two_layer_recovery(model) : alphas[i];
    branches[i] = both_branches(channels[0], alpha, context);
  });
  std::vector<std::vector<ReplicatePoint>> found(alphas.size(),
                                                 std::vector<ReplicatePoint>(replicates));
  numerics::parallel_for(context, alphas.size() * replicates, [&](std::size_t task) {
    const std::size_t i = task / replicates;
    const std::size_t r = task % replicates;
    if (is_recoverable(alphas[i])) return;
    found[i][r] = solve_replicate(FixedPoint(channels[r], alphas[i], context), alphas[i],
                                  branches[i], unknown[r]);
  });
  std::vector<TwoLayerPoint> points;
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    points.push_back(is_recoverable(alphas[i]) ? recovered_point(alphas[i], branches[i])
                                               : reduce_point(alphas[i], found[i]));
  }
  return points;
}

}  // namespace onset::aim
