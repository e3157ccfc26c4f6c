#include "onset/smi/limits/staircase.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "onset/core/error.hpp"
#include "onset/numerics/quasi_monte_carlo.hpp"
#include "onset/numerics/roots.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// Inner nodes per half. Growth rates need more than gains do: with these the bias left after its
/// correction is near 1e-3 of a growth rate and 3e-4 of a gain.
constexpr int growth_nodes = 256;
constexpr int max_nodes = 1 << 14;
constexpr int gain_nodes = 128;

/// Lattice points of the first threshold's inner fields, to begin with.
constexpr std::size_t first_lattice = 2048;

/// Outer points per replicate of the scan that brackets a threshold, and of its first refinement.
constexpr std::size_t scan_points = 128;
constexpr std::size_t least_root_points = 2048;

/// Scan of a stage's total depth: it doubles from the first to the last.
constexpr double scan_first = 0.3;
constexpr double scan_last = 40.0;

/// Depth of every layer at the deep end of the last branch: V ~ 1e-6.
constexpr double deep = 14.0;

/// The first layer's overlap rises over a depth of this order.
constexpr double first_depth_scale = 0.5;

/// Nodes of a branch that ends at the next threshold (one evaluation each).
constexpr int first_branch_nodes = 20;

/// Fixed points that a branch must have to be interpolated.
constexpr std::size_t least_nodes = 4;

/// Where the bracket of the scan leaves the root to the fine channel.
constexpr double bracket_width = 0.06;
constexpr double widest_bracket = 4.0;
constexpr double least_depth = 0.02;
/// Distance (in log V) of the last evaluation from a root at which one secant step finishes it.
constexpr double root_tolerance = 0.02;

/// Shares of the tolerance that scatter and bias may use up before they are worked on, and the most
/// by which the points grow at a time (the first errors are rough). Scatter falls like points^-1/2.
constexpr double scatter_share = 0.85;
constexpr double bias_share = 0.5;
constexpr double max_factor = 64.0;

/// An estimate of a growth rate far below its noise can be negative (large skips); its logarithm is
/// taken of this instead. At a threshold growth rates are of order 1.
constexpr double least_growth = 1e-6;

/// Standard errors beyond which a difference is called one.
constexpr double significance = 3.0;

/// The same for the measured end of the last branch against counting: beyond it the measurement is
/// not to be trusted.
constexpr double recovery_significance = 4.0;

/// A fold of log alpha below this cannot be told from the slope's own noise near its end.
constexpr double least_fold = 0.01;

/// Most outer points per replicate of a branch whose maximum is wanted.
constexpr std::size_t largest_trace = 4096;

std::size_t nearest_power_of_two(double x) {
  return std::size_t{1} << std::lround(std::log2(x));
}

Estimate exponential(const Replicates& logs, double relative_bias) {
  const Replicates values = numerics::map(logs, [](double x) { return std::exp(x); });
  return numerics::reduce(values, relative_bias * numerics::mean(values));
}

/// The layer that starts to be learned, and where.
struct NextLayer {
  int layer = 0;
  StageStart start;
};

class Builder {
 public:
  Builder(const DeepAttention& model, const StaircaseOptions& options, const Context& context,
          const std::function<void(int, const Estimate&)>& found)
      : model_(model),
        options_(options),
        context_(context),
        found_(found),
        layers_(static_cast<std::size_t>(model.layers)),
        trace_points_(options.trace_points) {}

  Staircase build() {
    result_.perfect = static_cast<double>(model_.layers) / model_.tokens;
    context_.report(0.0, "first threshold");
    NextLayer now = first_threshold();
    announce(now);
    std::vector<bool> learned(layers_, false);
    for (std::size_t stage = 1; stage <= layers_; ++stage) {
      learned[static_cast<std::size_t>(now.layer)] = true;
      const double progress = static_cast<double>(stage) / static_cast<double>(layers_ + 1);
      if (stage == layers_) {
        context_.report(progress, "branch to perfect recovery");
        const double end = mean_position(now.start) + deep * static_cast<double>(layers_);
        auto nodes = traced(learned, now.start, end, options_.trace_nodes);
        find_recovery(nodes);
        while (result_.hard_phase && result_.algorithmic.error > options_.tolerance &&
               trace_points_ < largest_trace) {
          trace_points_ *= 4;
          nodes = traced(learned, now.start, end, options_.trace_nodes);
          find_recovery(nodes);
        }
        add_step(now, nodes);
        break;
      }
      context_.report(progress, "next threshold");
      NextLayer next = next_threshold(learned);
      announce(next);
      const double end = mean_position(next.start) + 2.0 * bracket_width;
      const auto nodes = traced(learned, now.start, end, first_branch_nodes);
      require_rise(nodes, next.start);
      add_step(now, nodes);
      const Branch& branch = result_.steps.back().branch;
      for (std::size_t r = 0; r < next.start.log_alpha.size(); ++r) {
        next.start.log_evidence.push_back(
            branch.at_position(r, next.start.position(r)).log_evidence);
      }
      now = std::move(next);
    }
    return std::move(result_);
  }

 private:
  void announce(const NextLayer& next) const {
    if (found_) found_(next.layer, threshold(next.start));
  }

  static double mean_position(const StageStart& start) {
    double sum = 0.0;
    for (const auto& depth : start.depth) sum += numerics::mean(depth);
    return sum;
  }

  [[nodiscard]] ChannelOptions channel_options(std::size_t points, int nodes) const {
    ChannelOptions options;
    options.points = points;
    options.nodes = nodes;
    options.seed = options_.seed;
    return options;
  }

  /// The fastest growing layer at overlap 0 [smi 18].
  NextLayer first_threshold() {
    UninformedOptions rule;
    rule.seed = options_.seed;
    for (rule.nodes = first_lattice;; rule.nodes *= 2) {
      const Uninformed channel = uninformed_channel(model_, rule, context_);
      std::size_t fastest = 0;
      for (std::size_t l = 1; l < layers_; ++l) {
        if (numerics::mean(channel.growth[l]) > numerics::mean(channel.growth[fastest])) {
          fastest = l;
        }
      }
      NextLayer next;
      next.layer = static_cast<int>(fastest);
      next.start.log_alpha =
          numerics::map(channel.growth[fastest], [](double f) { return -std::log(f); });
      next.start.depth.assign(layers_, Replicates(next.start.log_alpha.size(), 0.0));
      next.start.log_evidence = channel.log_evidence;
      next.start.relative_bias = channel.grid_error[fastest];
      next.start.depth_scale = first_depth_scale;
      const bool met = threshold(next.start).error <= options_.first_tolerance;
      if (met || rule.nodes == numerics::max_lattice_size) {
        result_.met_tolerance = result_.met_tolerance && met;
        return next;
      }
    }
  }

  static Estimate threshold(const StageStart& start) {
    return exponential(start.log_alpha, start.relative_bias);
  }

  /// log(alpha F_l) for the fastest growing unlearned layer l, and log alpha, at total depth s.
  struct Growth {
    std::size_t layer = 0;
    Replicates log_growth;
    Replicates log_alpha;
    double growth_bias = 0.0;  // relative, of F_l
    double gain_bias = 0.0;    // relative, of the gain
  };

  Growth growth_at(const Channel& channel, const std::vector<bool>& learned, double s) {
    std::vector<double> guess(layers_, 0.0);
    for (std::size_t l = 0; l < layers_; ++l) {
      if (learned[l]) guess[l] = s;
    }
    const FixedPointNode node = solve_fixed_point(channel, learned, s, guess, context_);
    Growth growth;
    double fastest = -HUGE_VAL;
    for (std::size_t l = 0; l < layers_; ++l) {
      if (learned[l] || numerics::mean(node.growth[l]) <= fastest) continue;
      fastest = numerics::mean(node.growth[l]);
      growth.layer = l;
    }
    growth.log_alpha = node.log_alpha;
    growth.log_growth = node.log_alpha;
    for (std::size_t r = 0; r < node.log_alpha.size(); ++r) {
      growth.log_growth[r] += std::log(std::max(node.growth[growth.layer][r], least_growth));
    }
    growth.growth_bias = node.growth_bias[growth.layer];
    growth.gain_bias = node.relative_bias;
    return growth;
  }

  /// The root of alpha(s) F_l(s) = 1 on the branch of the learned layers [smi 20].
  NextLayer next_threshold(const std::vector<bool>& learned) {
    const Channel scan(model_, channel_options(scan_points, gain_nodes));
    const auto scanned = [&](double s) {
      return numerics::mean(growth_at(scan, learned, s).log_growth);
    };
    double low = 0.0;
    double high = scan_first;
    while (scanned(high) < 0.0) {
      low = high;
      high *= 2.0;
      if (high > scan_last) {
        throw Refused(
            "no further threshold was found: the search ends where the variances of the "
            "learned layers reach 1e-17, beyond which its integrals are lost in noise");
      }
    }
    if (low == 0.0) low = 0.5 * scan_first;
    numerics::RootOptions rough;
    rough.tolerance = 0.5 * bracket_width;
    const double near =
        scanned(low) < 0.0 ? numerics::bracketed_root(scanned, low, high, rough).x : low;
    return refined_threshold(learned, near);
  }

  /// What one resolution says about a threshold.
  struct Attempt {
    numerics::ReplicatedRoot root;
    NextLayer next;
    double scatter = 0.0;  // standard error of alpha from the replicates
    double bias = 0.0;     // bound on its bias
  };

  /// Raises the points against scatter and the inner nodes against bias until the tolerance is met.
  NextLayer refined_threshold(const std::vector<bool>& learned, double near) {
    std::size_t points = std::max(least_root_points, options_.trace_points);
    int nodes = growth_nodes;
    Attempt attempt = bracketed_threshold(learned, near, points, nodes);
    while (std::hypot(attempt.scatter, attempt.bias) > options_.tolerance) {
      const bool finer = attempt.bias > bias_share * options_.tolerance && nodes < max_nodes;
      const double excess = attempt.scatter / (scatter_share * options_.tolerance);
      const bool more = excess > 1.0 && points < options_.max_points;
      if (!finer && !more) {
        result_.met_tolerance = false;
        break;
      }
      if (finer) nodes *= 2;
      if (more) {
        const double factor = std::clamp(excess * excess, 2.0, max_factor);
        points = std::min(options_.max_points,
                          nearest_power_of_two(static_cast<double>(points) * factor));
      }
      const Channel channel(model_, channel_options(points, nodes));
      attempt = judged(learned, channel, [&](const numerics::ReplicatedFunction& residual) {
        return numerics::polished_root(residual, attempt.root, root_options());
      });
    }
    result_.sound = result_.sound && attempt.root.status.converged();
    return std::move(attempt.next);
  }

  Attempt bracketed_threshold(const std::vector<bool>& learned, double near, std::size_t points,
                              int nodes) {
    const Channel channel(model_, channel_options(points, nodes));
    return judged(learned, channel, [&](const numerics::ReplicatedFunction& residual) {
      double width = bracket_width;
      const auto value = [&](double s) { return numerics::mean(residual(s)[0]); };
      double low = std::max(least_depth, near - width);
      double high = near + width;
      while ((low > least_depth && value(low) > 0.0) || value(high) < 0.0) {
        width *= 2.0;
        if (width > widest_bracket) {
          throw Refused("the threshold near depth " + std::to_string(near) +
                        " cannot be bracketed: the growth rate is lost in noise");
        }
        low = std::max(least_depth, near - width);
        high = near + width;
      }
      return numerics::replicated_root(residual, low, high, root_options());
    });
  }

  static numerics::RootOptions root_options() {
    numerics::RootOptions options;
    options.tolerance = root_tolerance;
    options.max_evaluations = 12;
    return options;
  }

  /// Runs a root finder on log(alpha F) over the branch and says what its result is worth.
  template <class Finder>
  Attempt judged(const std::vector<bool>& learned, const Channel& channel, const Finder& find) {
    Growth last;
    std::map<double, std::vector<Replicates>> known;  // the bracket's ends serve the root as well
    const auto residual = [&](double s) {
      const auto [entry, fresh] = known.try_emplace(s);
      if (fresh) {
        last = growth_at(channel, learned, s);
        entry->second = {last.log_growth, last.log_alpha};
      }
      return entry->second;
    };
    Attempt attempt;
    attempt.root = find(numerics::ReplicatedFunction(residual));
    NextLayer& next = attempt.next;
    next.layer = static_cast<int>(last.layer);
    next.start.log_alpha = attempt.root.rows[0];
    next.start.depth.assign(layers_, Replicates(attempt.root.x.size(), 0.0));
    for (std::size_t l = 0; l < layers_; ++l) {
      if (learned[l]) next.start.depth[l] = attempt.root.x;
    }
    // alpha F = 1 fixes s: a relative error of F moves alpha by the share of alpha in the slope of
    // log(alpha F), one of the gain by the rest.
    const double share = std::clamp(attempt.root.row_slope[0] / attempt.root.slope, 0.0, 1.0);
    next.start.relative_bias = share * last.growth_bias + (1.0 - share) * last.gain_bias;
    attempt.scatter = exponential(next.start.log_alpha, 0.0).error;
    attempt.bias = next.start.relative_bias * std::exp(numerics::mean(next.start.log_alpha));
    return attempt;
  }

  std::vector<FixedPointNode> traced(const std::vector<bool>& learned, const StageStart& start,
                                     double end, int count) {
    const Channel channel(model_, channel_options(trace_points_, gain_nodes));
    auto nodes = trace_branch(channel, learned, start, end, count, context_);
    // At this resolution the branch may begin a little later than at that of its start: nodes
    // before that are no fixed points, and not missed.
    std::erase_if(nodes, [](const FixedPointNode& node) {
      return node.status.reason == StopReason::unstable;
    });
    const auto unsound = [](const FixedPointNode& node) { return !node.status.converged(); };
    if (std::erase_if(nodes, unsound) > 0) result_.sound = false;
    if (nodes.size() < least_nodes) {
      throw Refused(
          "the fixed points of this model cannot be computed accurately enough: the inner "
          "integrals "
          "of its posterior need more nodes than there are");
    }
    return nodes;
  }

  void add_step(const NextLayer& step, const std::vector<FixedPointNode>& nodes) {
    Branch branch(step.start, nodes);
    const Estimate size = folds(step, nodes) ? jump(step, branch) : Estimate{0.0, 0.0};
    result_.steps.push_back(
        {step.layer, step.start, threshold(step.start), size, std::move(branch)});
  }

  /// The next threshold is the first that growing alpha meets only if alpha rises up to it [smi
  /// 20].
  void require_rise(const std::vector<FixedPointNode>& nodes, const StageStart& next) {
    for (const auto& node : nodes) {
      if (node.position >= mean_position(next)) break;
      Replicates excess = node.log_alpha;
      for (std::size_t r = 0; r < excess.size(); ++r) excess[r] -= next.log_alpha[r];
      const Estimate e = numerics::reduce(excess, node.relative_bias + next.relative_bias);
      if (e.value > std::max(least_fold, significance * e.error)) result_.sound = false;
    }
  }

  /// Whether alpha falls along the branch at first, significantly.
  static bool folds(const NextLayer& step, const std::vector<FixedPointNode>& nodes) {
    for (const auto& node : nodes) {
      Replicates rise = node.log_alpha;
      for (std::size_t r = 0; r < rise.size(); ++r) rise[r] -= step.start.log_alpha[r];
      const Estimate e = numerics::reduce(rise, node.relative_bias + step.start.relative_bias);
      if (e.value < -significance * e.error) return true;
      if (e.value > significance * e.error) return false;
    }
    return false;
  }

  /// The overlap where a folded branch has risen to its threshold's alpha again.
  static Estimate jump(const NextLayer& step, const Branch& branch) {
    Replicates overlap;
    for (std::size_t r = 0; r < step.start.log_alpha.size(); ++r) {
      const auto points = branch.stable_points(r, step.start.log_alpha[r]);
      const auto layer = static_cast<std::size_t>(step.layer);
      overlap.push_back(points.empty() ? 1.0 : -std::expm1(-points.back().depth[layer]));
    }
    return numerics::reduce(overlap);
  }

  /// Where uninformed state evolution reaches Q = I, and whether Q = I attracts above `perfect`.
  void find_recovery(const std::vector<FixedPointNode>& nodes) {
    // Not yet at V = 0: what is left of it is a bias.
    double remaining = 0.0;
    for (const auto& depth : nodes.back().depth) remaining += std::exp(-numerics::mean(depth));
    result_.contraction =
        exponential(nodes.back().log_alpha, nodes.back().relative_bias + remaining);
    const double offset = std::abs(result_.contraction.value - result_.perfect);
    if (offset > recovery_significance * result_.contraction.error) result_.sound = false;
    const Estimate top = largest_alpha(nodes);
    result_.hard_phase = top.value - result_.perfect > significance * top.error;
    result_.algorithmic = result_.hard_phase ? top : Estimate{result_.perfect, 0.0};
  }

  /// alpha at the node where it is largest. Every second replicate says which node that is, and the
  /// others what alpha is there: the largest of noisy means would be too large.
  static Estimate largest_alpha(const std::vector<FixedPointNode>& nodes) {
    const std::size_t replicates = nodes.front().log_alpha.size();
    Replicates log_alpha(replicates);
    double bias = 0.0;
    for (std::size_t choosers = 0; choosers < 2; ++choosers) {
      const auto seen = [&](const FixedPointNode& node) {
        double sum = 0.0;
        for (std::size_t r = choosers; r < replicates; r += 2) sum += node.log_alpha[r];
        return sum;
      };
      const auto node = std::max_element(
          nodes.begin(), nodes.end(),
          [&](const FixedPointNode& a, const FixedPointNode& b) { return seen(a) < seen(b); });
      bias = std::max(bias, node->relative_bias);
      for (std::size_t r = 1 - choosers; r < replicates; r += 2) log_alpha[r] = node->log_alpha[r];
    }
    return exponential(log_alpha, bias);
  }

  const DeepAttention& model_;
  const StaircaseOptions& options_;
  const Context& context_;
  const std::function<void(int, const Estimate&)>& found_;
  std::size_t layers_;
  std::size_t trace_points_;
  Staircase result_;
};

}  // namespace

void StaircaseOptions::validate() const {
  if (!(tolerance > 0.0)) throw InvalidArgument("tolerance", "allowed: a number above 0");
  if (!(first_tolerance > 0.0)) throw InvalidArgument("first_tolerance", "allowed: above 0");
  if (trace_nodes < 8) throw InvalidArgument("trace_nodes", "allowed: 8 or more");
}

Staircase staircase(const DeepAttention& model, const StaircaseOptions& options,
                    const Context& context,
                    const std::function<void(int, const Estimate&)>& found) {
  model.validate();
  options.validate();
  if (model.layers > 2 || (model.layers == 2 && model.tokens != 2)) {
    throw Refused("the staircase of " + std::to_string(model.layers) + " layers and " +
                  std::to_string(model.tokens) +
                  " tokens is not available: one layer of any number of tokens is, and two layers "
                  "of two tokens");
  }
  return Builder(model, options, context, found).build();
}

}  // namespace onset::smi
