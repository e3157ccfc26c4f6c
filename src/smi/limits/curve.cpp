#include "smi/limits/curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "onset/core/error.hpp"
#include "smi/limits/prediction_error.hpp"
#include "smi/model/attention_model.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// The least number of outer points per replicate. The first number is what a typical model (with a
/// scatter of 0.015 of Q11 at 1024 points) needs for its tolerance.
constexpr std::size_t min_points = 512;
constexpr double typical_points = 1024.0;
constexpr double typical_error = 0.015;
constexpr double trace_spacing = 0.105;
constexpr double exact_trace_spacing = 0.05;  // used where the channel is cheap

/// The last layer's overlap is held to this fraction of the tolerance: it is the better determined.
constexpr double last_layer_share = 0.3;

/// Errors fall at least like points^-rate; used to choose the next number of points.
constexpr double error_rate = 0.6;

/// Where scatter is below this share of the tolerance, it is not the reason for missing it.
constexpr double min_scatter = 0.3;

/// One step of plain state evolution must move every V by less than this many standard errors of
/// its own (or by next to nothing, relative to it).
constexpr double moved_errors = 4.0;
constexpr double min_residual = 1e-5;
constexpr int verification_nodes = 128;
constexpr std::uint64_t verification_seed = 0x5eed;

/// A larger bias of the gains is replaced by this one: the overlaps are not known then.
constexpr double max_gain_bias = 0.5;

/// Next to exact recovery, a V below this is treated as 0.
constexpr double negligible_variance = 1e-5;

/// Relative distance at which two sample ratios are the same number.
constexpr double same_ratio = 1e-12;

/// What one replicate finds at one sample ratio.
struct Solution {
  std::vector<double> variance;
  double free_entropy = 0.0;
  bool beyond = false;  // it lies further than the branch was followed
};

/// Phi = sum_b rank_b (Q_b + log V_b) / 2 + alpha Psi [smi 22].
Solution solution(const FieldShape& shape, const Branch::Point& point, double alpha) {
  Solution s{{}, alpha * point.log_evidence};
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const double a = point.log_precision[b];
    s.variance.push_back(std::exp(-a));
    s.free_entropy += 0.5 * shape.rank[b] * (-std::expm1(-a) - a);
  }
  return s;
}

Solution perfect_recovery(std::size_t blocks) {
  return {std::vector<double>(blocks, 0.0), std::numeric_limits<double>::infinity()};
}

/// Whether exact recovery is the only stable fixed point, or (between the two thresholds of a hard
/// phase) one of them. The curve of fixed points ends at `perfect`; points that noise puts beyond
/// are not fixed points.
bool only_perfect(const Staircase& stairs, double alpha) {
  return stairs.perfect && stairs.hard.empty() &&
         alpha >= stairs.algorithmic.value * (1.0 - same_ratio);
}

/// The stable fixed points of a replicate from the least to the most learned.
std::vector<Solution> stable_solutions(const FieldShape& shape, const Staircase& stairs,
                                       const std::vector<double>& held, std::size_t r,
                                       double alpha) {
  const std::size_t blocks = shape.blocks();
  if (only_perfect(stairs, alpha)) return {perfect_recovery(blocks)};
  const double log_alpha = std::log(alpha);
  std::vector<Solution> found;
  const StageStart* first = stairs.steps.empty() ? nullptr : &stairs.steps.front().start;
  if (first == nullptr || (!first->from_nothing && log_alpha < first->log_alpha[r])) {
    Branch::Point start{std::vector<double>(blocks, 0.0), stairs.log_evidence[r]};
    for (std::size_t b = 0; b < held.size(); ++b) {
      if (held[b] > 0.0) start.log_precision[b] = -std::log1p(-held[b]);
    }
    found.push_back(solution(shape, start, alpha));
  }
  for (std::size_t k = 0; k < stairs.steps.size(); ++k) {
    const Branch& branch = stairs.steps[k].branch;
    const bool last = k + 1 == stairs.steps.size();
    // A stage is unstable as soon as the next block can grow.
    if (!last && log_alpha >= stairs.steps[k + 1].start.log_alpha[r]) continue;
    const auto points = branch.stable_points(r, log_alpha);
    for (const auto& point : points) found.push_back(solution(shape, point, alpha));
    // Beyond the deep end of the branch its blocks count as recovered, exactly or nearly.
    if (points.empty() && log_alpha >= branch.last_log_alpha(r)) {
      found.push_back(solution(shape, branch.deepest(r), alpha));
      found.back().beyond = last && !stairs.perfect;
    }
  }
  if (stairs.perfect && alpha > *stairs.perfect) {
    found.push_back(perfect_recovery(blocks));
  } else if (found.empty()) {
    found.push_back(solution(shape, stairs.steps.back().branch.deepest(r), alpha));
  }
  return found;
}

Solution choose(const std::vector<Solution>& solutions, BranchChoice choice) {
  switch (choice) {
    case BranchChoice::uninformed: return solutions.front();
    case BranchChoice::informed: return solutions.back();
    case BranchChoice::optimal:
      return *std::max_element(
          solutions.begin(), solutions.end(),
          [](const Solution& a, const Solution& b) { return a.free_entropy < b.free_entropy; });
  }
  return solutions.front();
}

/// All replicates at one sample ratio.
struct Ensemble {
  std::vector<Replicates> variance;  // per block
  Replicates free_entropy;
  bool beyond = false;  // true of some replicate

  [[nodiscard]] Replicates overlap(std::size_t l) const {
    return numerics::map(variance[l], [](double v) { return 1.0 - v; });
  }
  [[nodiscard]] double mean_variance(std::size_t l) const { return numerics::mean(variance[l]); }

  /// False when some replicates recover exactly and others do not: alpha is then too near a
  /// threshold to tell, and the mean over both is meaningless.
  [[nodiscard]] bool resolved() const {
    const auto exact = std::count(variance[0].begin(), variance[0].end(), 0.0);
    return exact == 0 || exact == static_cast<std::ptrdiff_t>(variance[0].size());
  }
};

Ensemble solve(const FieldShape& shape, const Staircase& stairs, const CurveOptions& options,
               double alpha) {
  const std::size_t replicates = stairs.log_evidence.size();
  Ensemble e{std::vector<Replicates>(shape.blocks()), {}, false};
  for (std::size_t r = 0; r < replicates; ++r) {
    const Solution s =
        choose(stable_solutions(shape, stairs, options.held, r, alpha), options.choice);
    for (std::size_t l = 0; l < s.variance.size(); ++l) e.variance[l].push_back(s.variance[l]);
    e.free_entropy.push_back(s.free_entropy);
    e.beyond = e.beyond || s.beyond;
  }
  return e;
}

/// The larger error; one that is not a number is the largest.
double worse(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::infinity() : std::max(a, b);
}

/// The relative bias of alpha on the branch that an ensemble lies on.
double relative_bias(const Staircase& stairs, double alpha) {
  double bias = 0.0;
  for (const auto& step : stairs.steps) {
    if (alpha > step.alpha.value) bias = step.branch.relative_bias();
  }
  return bias;
}

/// The same for the overlaps of the ensemble: the relative change of alpha that would make up for
/// the bias of any one layer's gain.
double overlap_bias(const Staircase& stairs, double alpha, const Ensemble& e) {
  double position = 0.0;
  for (std::size_t l = 0; l < e.variance.size(); ++l) position -= std::log(e.mean_variance(l));
  double bias = 0.0;
  for (const auto& step : stairs.steps) {
    if (alpha > step.alpha.value) bias = step.branch.overlap_bias(position);
  }
  return bias;
}

}  // namespace

std::string_view to_string(BranchChoice choice) {
  switch (choice) {
    case BranchChoice::uninformed: return "uninformed";
    case BranchChoice::informed: return "informed";
    case BranchChoice::optimal: return "optimal";
  }
  return "unknown";
}

void CurveOptions::validate() const {
  if (!(tolerance > 0.0)) throw InvalidArgument("tolerance", "allowed: a number above 0");
  for (const double q : held) {
    if (!(q < 1.0)) throw InvalidArgument("held", "allowed: overlaps below 1");
  }
  if (max_points < min_points) throw InvalidArgument("max_points", "allowed: 512 or more");
}

namespace {

class CurveSolver {
 public:
  CurveSolver(const SequenceModel& model, const CurveOptions& options, const Context& context)
      : model_(model), options_(options), context_(context) {}

  /// Computes a staircase fine enough that every overlap on the grid meets the tolerance.
  bool prepare(std::span<const double> alphas) {
    for (points_ = first_points();;) {
      StaircaseOptions s;
      s.tolerance = std::numeric_limits<double>::max();
      s.trace_points = points_;
      s.max_points = options_.max_points;
      s.trace_spacing = is_cheap() ? exact_trace_spacing : trace_spacing;
      s.alpha_end = *std::max_element(alphas.begin(), alphas.end());
      // Other choices may lie on branches that begin further on.
      if (options_.choice == BranchChoice::uninformed) s.alpha_stop = s.alpha_end;
      s.seed = options_.seed;
      for (const double q : options_.held) s.held.push_back(q < 0.0 ? -1.0 : -std::log1p(-q));
      stairs_ = staircase(model_, s, context_);
      double scatter = 0.0;  // both are in units of what is allowed
      double total = 0.0;
      for (const double alpha : alphas) {
        const Ensemble e = solved(alpha);
        for (std::size_t l = 0; l < e.variance.size(); ++l) {
          const bool best_known = l > 0 && l + 1 == e.variance.size();
          const double allowed = options_.tolerance * (best_known ? last_layer_share : 1.0);
          scatter = worse(scatter, numerics::reduce(e.variance[l]).error / allowed);
          total = worse(total, overlap(e, l, alpha).error / allowed);
        }
      }
      if (total <= 1.0) return stairs_.sound;
      // More points lower the scatter only, not the bounds on bias.
      if (points_ >= options_.max_points || scatter < min_scatter) return false;
      const double factor = std::max(2.0, std::pow(total, 1.0 / error_rate));
      const double wanted = static_cast<double>(points_) * factor;
      while (static_cast<double>(points_) < wanted && points_ < options_.max_points) points_ *= 2;
    }
  }

  CurvePoint point(double alpha) {
    const Ensemble e = solved(alpha);
    CurvePoint p;
    p.alpha = alpha;
    for (std::size_t l = 0; l < e.variance.size(); ++l) p.overlap.push_back(overlap(e, l, alpha));
    const bool infinite = std::any_of(e.free_entropy.begin(), e.free_entropy.end(),
                                      [](double x) { return std::isinf(x); });
    // The fixed point's own error is of second order in Phi; that of the evidence along the branch
    // is proportional to what it has gained since overlap 0.
    const double bias = relative_bias(stairs_, alpha);
    const double gained =
        numerics::mean(e.free_entropy) - alpha * numerics::mean(stairs_.log_evidence);
    p.free_entropy =
        infinite ? Estimate{std::numeric_limits<double>::infinity(), 0.0}
                 : numerics::reduce(e.free_entropy,
                                    std::hypot(bias * gained, alpha * stairs_.log_evidence_bias));
    const PredictionErrors errors = errors_at(e);
    const PredictionErrors moved = errors_at(biased(e, alpha));
    const auto with_bias = [&](const Replicates& here, const Replicates& there) {
      return numerics::reduce(here, std::abs(numerics::mean(there) - numerics::mean(here)));
    };
    p.error_plugin = with_bias(errors.plugin, moved.plugin);
    p.error_bayes = with_bias(errors.bayes, moved.bayes);
    p.status = verify(e, p);
    // Where blocks are never learned from small overlaps, fixed points near the truth are on a
    // curve of their own, which is not traced.
    const bool elsewhere = !stairs_.hard.empty() && !stairs_.perfect;
    if (elsewhere && options_.choice != BranchChoice::uninformed) {
      p.status.reason = StopReason::inaccurate;
    }
    for (const std::size_t b : options_.unlearned) p.overlap[b] = {0.0, 0.0};
    return p;
  }

 private:
  [[nodiscard]] bool is_cheap() const {
    return model_.posterior({})->exact() && model_.shape().blocks() == 1;
  }

  /// The errors at the overlaps of the ensemble, with overlap 0 for the blocks that are to be taken
  /// as unlearned.
  [[nodiscard]] PredictionErrors errors_at(const Ensemble& e) const {
    std::vector<Replicates> variance = e.variance;
    for (const std::size_t b : options_.unlearned) {
      std::fill(variance[b].begin(), variance[b].end(), 1.0);
    }
    return prediction_errors(model_, variance, options_.error_points, options_.seed, context_);
  }

  [[nodiscard]] Ensemble solved(double alpha) const {
    return solve(model_.shape(), stairs_, options_, alpha);
  }

  [[nodiscard]] std::size_t first_points() const {
    const double wanted =
        typical_points * std::pow(typical_error / options_.tolerance, 1.0 / error_rate);
    std::size_t points = min_points;
    while (static_cast<double>(points) < wanted && points < options_.max_points) points *= 2;
    return points;
  }

  /// The ensemble as the bias of the gains would shift it, on the same side of exact recovery.
  [[nodiscard]] Ensemble biased(const Ensemble& e, double alpha) const {
    if (only_perfect(stairs_, alpha)) return e;
    const double bias = std::min(overlap_bias(stairs_, alpha, e), max_gain_bias);
    const double more = alpha * (1.0 + bias);
    const bool crosses = stairs_.perfect && alpha <= *stairs_.perfect && more >= *stairs_.perfect;
    return solved(crosses ? alpha * (1.0 - bias) : more);
  }

  /// The overlap of a layer; its error contains the scatter and what the bias of the gains does.
  [[nodiscard]] Estimate overlap(const Ensemble& e, std::size_t l, double alpha) const {
    const double moved = biased(e, alpha).mean_variance(l);
    return numerics::reduce(e.overlap(l), std::abs(moved - e.mean_variance(l)));
  }

  /// One step of plain state evolution V_l <- 1 / (1 + alpha r_l / V_l) from the mean point, with
  /// other points than traced the curve [smi 14]; and no unlearned layer may grow [smi 20].
  Status verify(const Ensemble& e, const CurvePoint& p) {
    std::vector<double> start;
    for (std::size_t l = 0; l < e.variance.size(); ++l) start.push_back(e.mean_variance(l));
    Status status{StopReason::converged, 0, 0.0};
    if (!e.resolved() || e.beyond) status.reason = StopReason::inaccurate;
    const double least = stairs_.perfect ? negligible_variance : 0.0;
    if (*std::max_element(start.begin(), start.end()) < least) return status;
    if (!channel_) {
      ChannelOptions options;
      options.points = points_;
      options.nodes = verification_nodes;
      options.seed = options_.seed + verification_seed;
      channel_ = std::make_unique<Channel>(model_, options);
    }
    for (double& x : start) x = std::max(x, least);
    const ChannelInformation info = channel_->at(start, context_);
    status.iterations = 1;
    for (std::size_t l = 0; l < start.size(); ++l) {
      if (!options_.held.empty() && options_.held[l] >= 0.0) continue;
      const Replicates& values = start[l] < 1.0 ? info.gain[l] : info.growth[l];
      const Estimate value = numerics::reduce(values);
      if (start[l] == 1.0) {
        const bool grows = p.alpha * (value.value - moved_errors * value.error) > 1.0;
        if (grows) status.reason = StopReason::unstable;
        continue;
      }
      const double next = 1.0 / (1.0 + p.alpha * value.value / start[l]);
      const double moved = std::abs(next - start[l]);
      // dV'/dr = -alpha V'^2 / V carries the check's own noise.
      const double noise = p.alpha * next * next / start[l] * value.error;
      const double allowed = moved_errors * std::hypot(p.overlap[l].error, noise);
      status.residual = std::max(status.residual, moved);
      if (!(moved <= std::max(min_residual * start[l], allowed))) {
        status.reason = StopReason::stagnated;
      }
    }
    return status;
  }

  const SequenceModel& model_;
  const CurveOptions& options_;
  const Context& context_;
  Staircase stairs_;
  std::size_t points_ = 0;
  std::unique_ptr<Channel> channel_;  // the channel of the check
};

}  // namespace

namespace {

BayesCurve solve_curve(CurveSolver& solver, std::span<const double> alphas, const Context& context,
                       const std::function<void(const CurvePoint&)>& finished) {
  BayesCurve curve;
  curve.met_tolerance = solver.prepare(alphas);
  for (const double alpha : alphas) {
    context.check();
    curve.points.push_back(solver.point(alpha));
    if (finished) finished(curve.points.back());
    context.report(static_cast<double>(curve.points.size()) / static_cast<double>(alphas.size()),
                   "sample ratios");
  }
  return curve;
}

void check_alphas(std::span<const double> alphas) {
  if (alphas.empty()) throw InvalidArgument("alpha", "is empty; allowed: one number or more");
  for (const double alpha : alphas) {
    if (!(alpha > 0.0 && std::isfinite(alpha))) {
      throw InvalidArgument("alpha", "allowed: finite numbers above 0");
    }
  }
}

}  // namespace

BayesCurve bayes_curve(const SequenceModel& model, std::span<const double> alphas,
                       const CurveOptions& options, const Context& context,
                       const std::function<void(const CurvePoint&)>& finished) {
  options.validate();
  check_alphas(alphas);
  CurveSolver solver(model, options, context);
  return solve_curve(solver, alphas, context, finished);
}

}  // namespace onset::smi
