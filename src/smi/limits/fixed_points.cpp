#include "onset/smi/limits/fixed_points.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>

#include "numerics/solvers/roots.hpp"
#include "onset/core/error.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// After a Newton step (in log V) below this the second-order remainder is far below the scatter.
constexpr double accepted_step = 0.02;
constexpr double relative_step = 0.25;  // the same in units of a small log precision
constexpr int max_newton_steps = 12;
constexpr double relative_difference = 0.25;  // the step for slopes, relative to the log precision
constexpr double max_difference = 0.2;
constexpr double min_log_precision = 1e-6;
constexpr int settling_steps = 8;         // steps of state evolution where Newton's steps fail
constexpr double shortest_lesson = 1e-4;  // a step that teaches slopes
constexpr double longest_step = 0.5;      // the longest step of a free log precision

/// A point is not to be trusted when the relative bias of its inner integrals exceeds this.
constexpr double max_bias = 0.02;

/// The same for the gain of one block. The gain of a block that has just begun to be learned is a
/// small part of the whole, but it decides the overlap of that block.
constexpr double max_block_bias = 0.1;

/// Gains and their agreement with the truth may differ by this share of the gains, and by this many
/// standard errors, before the inner integrals are said to miss a part of the posterior.
constexpr double max_disagreement = 0.02;
constexpr double significance = 5.0;

/// A replicate's gain per overlap can fall below 0 where its noise is large; the logarithm is then
/// that of this bound. At fixed points the gain per overlap is 1 / alpha.
constexpr double min_gain_per_overlap = 1e-15;

/// Likewise for a growth rate.
constexpr double min_growth = 1e-15;

/// The channel at one point, as the solver sees it: every row a quantity, one value per replicate.
struct Evaluation {
  std::vector<Replicates> residual;  // one per free log precision
  std::vector<Replicates> carried;   // log alpha, Psi, then growth and pull of blocks not learned
  ChannelInformation info;
};

/// What closes the system: alpha_b of all learned blocks agree, and either the total log precision
/// is given or a block starts to grow.
struct Closing {
  double position = 0.0;
  std::optional<std::size_t> growing;
};

class Solver {
 public:
  /// Slopes are measured with a channel of their own, which may be the coarser.
  Solver(const Channel& channel, const Channel& slopes, const std::vector<bool>& learned,
         const Closing& closing, const Context& context)
      : channel_(channel),
        slopes_(slopes),
        shape_(channel.model().shape()),
        learned_(learned),
        closing_(closing),
        context_(context) {
    for (std::size_t b = 0; b < learned.size(); ++b) {
      if (learned[b]) free_.push_back(b);
    }
    if (free_.empty()) throw InvalidArgument("learned", "allowed: at least one learned block");
    last_ = free_.back();
    // When the position is given, the last block's log precision is the rest.
    if (!closing_.growing) free_.pop_back();
  }

  FixedPointNode solve(const std::vector<double>& guess) {
    held_ = guess;
    for (std::size_t b = 0; b < guess.size(); ++b) {
      if (learned_[b]) held_[b] = 0.0;
      held_sum_ += held_[b];
    }
    Eigen::VectorXd x(index(free_.size()));
    for (std::size_t j = 0; j < free_.size(); ++j) x[index(j)] = guess[free_[j]];
    limit(x);
    const Eigen::VectorXd first = x;
    Evaluation here = evaluate(channel_, x);
    Status status = newton(x, here);
    if (!status.converged() && !closing_.growing && x.size() > 0) {
      // From a guess that is too far off, state evolution leads back to where steps are reliable.
      x = first;
      for (int k = 0; k < settling_steps; ++k) {
        here = evaluate(channel_, x);
        x = state_evolution(x, here);
      }
      here = evaluate(channel_, x);
      status = newton(x, here);
    }
    status.iterations = evaluations_;
    return finish(x, here, status);
  }

 private:
  /// Newton's iteration from x, where the channel is `here`; both end where it does.
  Status newton(Eigen::VectorXd& x, Evaluation& here) {
    measure_slopes(x, here);
    Status status{StopReason::unfinished, 0, 0.0};
    for (int step = 0; step < max_newton_steps; ++step) {
      const Eigen::VectorXd move = mean_step(here);
      if (!move.allFinite() || (move.size() > 0 && inverse_.rank() < move.size())) {
        status.reason = StopReason::diverged;
        break;
      }
      status.residual = move.size() == 0 ? 0.0 : move.cwiseAbs().maxCoeff();
      if (leaves_domain(x, move)) {
        status.reason = StopReason::unstable;
        break;
      }
      if (is_small(x, move)) {
        status.reason = StopReason::converged;
        break;
      }
      const Eigen::VectorXd before = x;
      x += move * std::min(1.0, longest_step / status.residual);
      limit(x);
      Evaluation there = evaluate(channel_, x);
      // After a long step the slopes no longer hold.
      if ((x - before).cwiseAbs().maxCoeff() > max_difference) {
        measure_slopes(x, there);
      } else {
        learn_slopes(x - before, here, there);
      }
      here = std::move(there);
    }
    return status;
  }

  /// One step of state evolution [smi 13], with the alpha that keeps the total log precision.
  [[nodiscard]] Eigen::VectorXd state_evolution(const Eigen::VectorXd& x,
                                                const Evaluation& here) const {
    const std::vector<double> a = log_precisions(x);
    const auto next = [&](std::size_t b, double alpha) {
      const double gain = std::max(numerics::mean(here.info.gain[b]), 0.0);
      return std::log1p(alpha * gain * std::exp(a[b]));
    };
    const auto excess = [&](double log_alpha) {
      double sum = held_sum_ - closing_.position;
      for (std::size_t b = 0; b < a.size(); ++b) {
        if (learned_[b]) sum += next(b, std::exp(log_alpha));
      }
      return sum;
    };
    const double at = numerics::mean(here.carried[0]);
    constexpr double reach = 5.0;  // the range of log alpha
    if (!(excess(at - reach) < 0.0 && excess(at + reach) > 0.0)) return x;
    const double alpha = std::exp(numerics::bracketed_root(excess, at - reach, at + reach).x);
    Eigen::VectorXd out(x.size());
    for (std::size_t j = 0; j < free_.size(); ++j) out[index(j)] = next(free_[j], alpha);
    limit(out);
    return out;
  }

  /// Whether a block is neither learned nor recovered.
  [[nodiscard]] bool is_open(std::size_t b) const { return !learned_[b] && held_[b] == 0.0; }

  static Eigen::Index index(std::size_t j) { return static_cast<Eigen::Index>(j); }

  /// Whether the remaining move does not matter, even for a block that has hardly begun to be
  /// learned.
  static bool is_small(const Eigen::VectorXd& x, const Eigen::VectorXd& move) {
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      if (std::abs(move[j]) > std::min(accepted_step, relative_step * x[j])) return false;
    }
    return true;
  }

  /// Whether a block at overlap 0 would still move downwards, so that the branch begins only
  /// further on.
  static bool leaves_domain(const Eigen::VectorXd& x, const Eigen::VectorXd& move) {
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      if (x[j] <= min_log_precision && move[j] < 0.0) return true;
    }
    return false;
  }

  /// Keeps the log precisions positive, the last block's included.
  void limit(Eigen::VectorXd& x) const {
    for (Eigen::Index j = 0; j < x.size(); ++j) x[j] = std::max(x[j], min_log_precision);
    const double room = closing_.position - held_sum_ - min_log_precision;
    if (!closing_.growing && x.sum() > room) x *= room / x.sum();
  }

  [[nodiscard]] std::vector<double> log_precisions(const Eigen::VectorXd& x) const {
    std::vector<double> a = held_;
    for (std::size_t j = 0; j < free_.size(); ++j) a[free_[j]] = x[index(j)];
    if (!closing_.growing) a[last_] = closing_.position - held_sum_ - x.sum();
    return a;
  }

  Evaluation evaluate(const Channel& channel, const Eigen::VectorXd& x) {
    const std::vector<double> a = log_precisions(x);
    std::vector<double> variance(a.size());
    double total = 0.0;
    for (std::size_t b = 0; b < a.size(); ++b) {
      variance[b] = std::exp(-a[b]);
      if (learned_[b]) total += shape_.rank[b] * -std::expm1(-a[b]);
    }
    ++evaluations_;
    Evaluation e{{}, {}, channel.at(variance, context_)};
    const std::size_t replicates = e.info.log_evidence.size();
    const auto log_ratio = [&](std::size_t b, std::size_t r) {
      const double overlap = -std::expm1(-a[b]);
      return -std::log(std::max(e.info.gain[b][r] / overlap, min_gain_per_overlap));
    };
    e.residual.assign(free_.size(), Replicates(replicates));
    Replicates log_alpha(replicates);
    for (std::size_t r = 0; r < replicates; ++r) {
      double gain = 0.0;
      for (std::size_t b = 0; b < a.size(); ++b) {
        if (learned_[b]) gain += shape_.rank[b] * e.info.gain[b][r];
      }
      log_alpha[r] = -std::log(std::max(gain / total, min_gain_per_overlap));
      for (std::size_t j = 0; j < free_.size(); ++j) {
        e.residual[j][r] =
            free_[j] == last_
                ? log_alpha[r] + std::log(std::max(e.info.growth[*closing_.growing][r], min_growth))
                : log_ratio(free_[j], r) - log_ratio(last_, r);
      }
    }
    e.carried = {std::move(log_alpha), e.info.log_evidence};
    for (std::size_t b = 0; b < a.size(); ++b) {
      if (!is_open(b)) continue;
      e.carried.push_back(e.info.growth[b]);
      e.carried.push_back(e.info.gain[b]);
    }
    return e;
  }

  /// Derivatives of the mean residuals and of the mean carried rows with respect to the free
  /// log precisions. Means are enough for the replicates too: what they neglect is of second order
  /// in the scatter.
  void measure_slopes(const Eigen::VectorXd& x, const Evaluation& known) {
    const bool other = &slopes_ != &channel_ && x.size() > 0;
    const Evaluation here = other ? evaluate(slopes_, x) : known;
    jacobian_.resize(x.size(), x.size());
    carried_slope_.resize(index(here.carried.size()), x.size());
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      double d = std::min(relative_difference * x[j], max_difference);
      if (!closing_.growing) {
        d = std::min(d, 0.5 * (closing_.position - held_sum_ - x.sum()));
      }
      Eigen::VectorXd moved = x;
      moved[j] += d;
      const Evaluation there = evaluate(slopes_, moved);
      const auto slope = [d](const Replicates& to, const Replicates& from) {
        return (numerics::mean(to) - numerics::mean(from)) / d;
      };
      for (std::size_t i = 0; i < here.residual.size(); ++i) {
        jacobian_(index(i), j) = slope(there.residual[i], here.residual[i]);
      }
      for (std::size_t i = 0; i < here.carried.size(); ++i) {
        carried_slope_(index(i), j) = slope(there.carried[i], here.carried[i]);
      }
    }
    if (x.size() > 0) inverse_ = jacobian_.fullPivLu();
  }

  /// Makes the slopes reproduce what a step has changed (Broyden's update): measured ones are noisy
  /// where the log precision of a block is small.
  void learn_slopes(const Eigen::VectorXd& step, const Evaluation& from, const Evaluation& to) {
    const double square = step.squaredNorm();
    if (square < shortest_lesson * shortest_lesson) return;
    const auto learn = [&](Eigen::MatrixXd& slopes, const std::vector<Replicates>& before,
                           const std::vector<Replicates>& after) {
      for (Eigen::Index i = 0; i < slopes.rows(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        const double change = numerics::mean(after[row]) - numerics::mean(before[row]);
        const double missed = change - slopes.row(i).dot(step);
        slopes.row(i) += (missed / square) * step.transpose();
      }
    };
    learn(jacobian_, from.residual, to.residual);
    learn(carried_slope_, from.carried, to.carried);
    inverse_ = jacobian_.fullPivLu();
  }

  /// The Newton step for given residuals, one per free block.
  template <class Residual>
  [[nodiscard]] Eigen::VectorXd newton_step(const Residual& residual) const {
    Eigen::VectorXd b(index(free_.size()));
    for (std::size_t i = 0; i < free_.size(); ++i) b[index(i)] = -residual(i);
    return b.size() == 0 ? b : Eigen::VectorXd(inverse_.solve(b));
  }

  [[nodiscard]] Eigen::VectorXd mean_step(const Evaluation& here) const {
    return newton_step([&](std::size_t i) { return numerics::mean(here.residual[i]); });
  }

  FixedPointNode finish(const Eigen::VectorXd& x, const Evaluation& here, const Status& status) {
    const std::size_t replicates = here.info.log_evidence.size();
    FixedPointNode node;
    node.status = status;
    node.log_precision.assign(learned_.size(), Replicates(replicates, 0.0));
    node.growth.resize(learned_.size());
    node.pull.resize(learned_.size());
    node.gain_bias.assign(learned_.size(), 0.0);
    node.growth_bias.assign(learned_.size(), 0.0);
    std::vector<Replicates> carried = here.carried;
    for (std::size_t r = 0; r < replicates; ++r) {
      const Eigen::VectorXd step = newton_step([&](std::size_t i) { return here.residual[i][r]; });
      for (std::size_t row = 0; row < carried.size(); ++row) {
        carried[row][r] += carried_slope_.row(index(row)).dot(step);
      }
      const std::vector<double> a = log_precisions(x + step);
      for (std::size_t b = 0; b < a.size(); ++b) node.log_precision[b][r] = a[b];
    }
    for (const double a : log_precisions(x)) node.position += a;
    node.log_alpha = std::move(carried[0]);
    node.log_evidence = std::move(carried[1]);
    std::size_t row = 2;
    for (std::size_t b = 0; b < learned_.size(); ++b) {
      if (!is_open(b)) continue;
      node.growth_bias[b] = here.info.growth_bias[b] / std::abs(numerics::mean(carried[row]));
      node.growth[b] = std::move(carried[row++]);
      node.pull[b] = std::move(carried[row++]);
    }
    node.cross_growth = max_cross(here.info, node.log_alpha);
    judge(here, node);
    return node;
  }

  static Replicates max_cross(const ChannelInformation& info, const Replicates& log_alpha) {
    Replicates largest;
    for (const Replicates& cross : info.cross) {
      if (cross.empty()) continue;
      Replicates growth = cross;
      for (std::size_t r = 0; r < growth.size(); ++r) growth[r] *= std::exp(log_alpha[r]);
      if (largest.empty() || std::abs(numerics::mean(growth)) > std::abs(numerics::mean(largest))) {
        largest = std::move(growth);
      }
    }
    return largest;
  }

  /// The bias of alpha, and whether the integrals can be trusted.
  void judge(const Evaluation& here, FixedPointNode& node) const {
    double gain = 0.0;
    double bias = 0.0;
    bool accurate = true;
    Replicates disagreement(here.info.log_evidence.size(), 0.0);
    for (std::size_t b = 0; b < learned_.size(); ++b) {
      if (!learned_[b]) continue;
      const double own = numerics::mean(here.info.gain[b]);
      gain += shape_.rank[b] * own;
      bias += shape_.rank[b] * here.info.gain_bias[b];
      node.gain_bias[b] = here.info.gain_bias[b] / std::abs(own);
      // A gain is at most the number of tokens [smi 14]. The sum over blocks has no such bound: it
      // may exceed what a label fixes before it returns to that at V -> 0.
      accurate = accurate && own <= shape_.tokens * (1.0 + max_bias) &&
                 node.gain_bias[b] <= max_block_bias;
      for (std::size_t r = 0; r < disagreement.size(); ++r) {
        disagreement[r] += shape_.rank[b] * (here.info.agreement[b][r] - here.info.gain[b][r]);
      }
    }
    node.relative_bias = bias / gain;
    accurate = accurate && node.relative_bias <= max_bias;
    const Estimate missed = numerics::reduce(disagreement);
    if (std::abs(missed.value) > max_disagreement * gain + significance * missed.error) {
      accurate = false;
    }
    if (closing_.growing) node.relative_bias = threshold_bias(node, node.relative_bias);
    if (!accurate) node.status.reason = StopReason::inaccurate;
  }

  /// alpha F = 1 fixes the point: relative errors of F and of the gains move log alpha by the
  /// slopes of the solution with respect to the two.
  [[nodiscard]] double threshold_bias(const FixedPointNode& node, double gain_bias) const {
    const auto moved = [&](double closing_residual) {
      const Eigen::VectorXd step =
          newton_step([&](std::size_t i) { return free_[i] == last_ ? closing_residual : 0.0; });
      return std::abs(carried_slope_.row(0).dot(step));
    };
    const double growth_bias = node.growth_bias[*closing_.growing];
    // A common error e of all gains moves log alpha by -e directly, and further through the
    // response of the closing equation.
    const double share = moved(1.0);
    return share * growth_bias + std::abs(1.0 - share) * gain_bias;
  }

  const Channel& channel_;
  const Channel& slopes_;
  const FieldShape& shape_;
  const std::vector<bool>& learned_;
  Closing closing_;
  const Context& context_;
  std::vector<double> held_;  // log precisions of the blocks that are not solved for
  double held_sum_ = 0.0;
  std::vector<std::size_t> free_;  // learned blocks whose log precision is free
  std::size_t last_ = 0;           // the block whose equation closes the system
  Eigen::MatrixXd jacobian_;
  Eigen::FullPivLU<Eigen::MatrixXd> inverse_;
  Eigen::MatrixXd carried_slope_;
  int evaluations_ = 0;
};

}  // namespace

Replicates FixedPointNode::log_growth(std::size_t block) const {
  Replicates values = log_alpha;
  for (std::size_t r = 0; r < values.size(); ++r) {
    values[r] += std::log(std::max(growth[block][r], min_growth));
  }
  return values;
}

FixedPointNode solve_fixed_point(const Channel& channel, const Channel& slopes,
                                 const std::vector<bool>& learned, double position,
                                 const std::vector<double>& guess, const Context& context) {
  return Solver(channel, slopes, learned, {position, {}}, context).solve(guess);
}

FixedPointNode solve_threshold(const Channel& channel, const Channel& slopes,
                               const std::vector<bool>& learned, std::size_t block,
                               const std::vector<double>& guess, const Context& context) {
  return Solver(channel, slopes, learned, {0.0, block}, context).solve(guess);
}

}  // namespace onset::smi
