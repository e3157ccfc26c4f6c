#include "onset/smi/limits/fixed_points.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace onset::smi {
namespace {

using numerics::Replicates;

/// A Newton step (in log V) below which the second-order remainder is far below the scatter.
constexpr double accepted_step = 0.02;
constexpr int max_newton_steps = 12;
constexpr int full_steps = 3;  // then halved: a slope too small by noise would make steps alternate
constexpr double relative_difference = 0.25;  // of the depth, for slopes
constexpr double largest_difference = 0.2;
constexpr double smallest_depth = 1e-6;
constexpr double longest_step = 1.0;  // of a free depth

/// Relative bias of the inner integrals beyond which a point is not to be trusted.
constexpr double largest_bias = 0.02;

/// A replicate's gain per overlap can fall below 0 where its noise is large; its logarithm is taken
/// of this instead. At fixed points that matter it is of order 1.
constexpr double least_gain_per_overlap = 1e-6;

/// The channel at one point, as the solver sees it: every row a quantity, one value per replicate.
struct Evaluation {
  std::vector<Replicates> residual;  // log alpha_l - log alpha_last, per free layer
  std::vector<Replicates> carried;   // log alpha, Psi, then the growth rates
  ChannelInformation info;
};

class Solver {
 public:
  Solver(const Channel& channel, const std::vector<bool>& learned, double position,
         const Context& context)
      : channel_(channel), learned_(learned), position_(position), context_(context) {
    for (std::size_t l = 0; l < learned.size(); ++l) {
      if (learned[l]) layers_.push_back(l);
    }
    last_ = layers_.back();
    layers_.pop_back();  // the free ones; the last one's depth is the rest
  }

  FixedPointNode solve(const std::vector<double>& guess) {
    Eigen::VectorXd x(static_cast<Eigen::Index>(layers_.size()));
    for (std::size_t j = 0; j < layers_.size(); ++j) x[index(j)] = guess[layers_[j]];
    limit(x);
    Evaluation here = evaluate(x);
    measure_slopes(x, here);
    Status status{StopReason::max_iterations, evaluations_, 0.0};
    for (int step = 0; step < max_newton_steps; ++step) {
      const Eigen::VectorXd move = mean_step(here);
      status.residual = move.size() == 0 ? 0.0 : move.cwiseAbs().maxCoeff();
      if (status.residual <= accepted_step) {
        status.reason = StopReason::converged;
        break;
      }
      if (!move.allFinite()) {
        status.reason = StopReason::diverged;
        break;
      }
      if (leaves_domain(x, move)) {
        status.reason = StopReason::unstable;
        break;
      }
      const Eigen::VectorXd before = x;
      const double damping = step < full_steps ? 1.0 : 0.5;
      x += move * std::min(damping, longest_step / status.residual);
      limit(x);
      here = evaluate(x);
      // A long step has left the slopes behind.
      if ((x - before).cwiseAbs().maxCoeff() > largest_difference) measure_slopes(x, here);
    }
    status.iterations = evaluations_;
    return finish(x, here, status);
  }

 private:
  static Eigen::Index index(std::size_t j) { return static_cast<Eigen::Index>(j); }

  /// A layer at overlap 0 whose step is still downwards: the branch begins only further on.
  static bool leaves_domain(const Eigen::VectorXd& x, const Eigen::VectorXd& move) {
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      if (x[j] <= smallest_depth && move[j] < 0.0) return true;
    }
    return false;
  }

  /// Depths stay positive, the last layer's included.
  void limit(Eigen::VectorXd& x) const {
    for (Eigen::Index j = 0; j < x.size(); ++j) x[j] = std::max(x[j], smallest_depth);
    const double room = position_ - smallest_depth;
    if (x.sum() > room) x *= room / x.sum();
  }

  [[nodiscard]] std::vector<double> depths(const Eigen::VectorXd& x) const {
    std::vector<double> a(learned_.size(), 0.0);
    for (std::size_t j = 0; j < layers_.size(); ++j) a[layers_[j]] = x[index(j)];
    a[last_] = position_ - x.sum();
    return a;
  }

  Evaluation evaluate(const Eigen::VectorXd& x) {
    const std::vector<double> a = depths(x);
    std::vector<double> variance(a.size());
    double total = 0.0;
    for (std::size_t l = 0; l < a.size(); ++l) {
      variance[l] = std::exp(-a[l]);
      total += -std::expm1(-a[l]);
    }
    ++evaluations_;
    Evaluation e{{}, {}, channel_.at(variance, context_)};
    const std::size_t replicates = e.info.log_evidence.size();
    const auto log_ratio = [&](std::size_t l, std::size_t r) {
      const double overlap = -std::expm1(-a[l]);
      return -std::log(std::max(e.info.gain[l][r] / overlap, least_gain_per_overlap));
    };
    e.residual.assign(layers_.size(), Replicates(replicates));
    Replicates log_alpha(replicates);
    for (std::size_t r = 0; r < replicates; ++r) {
      double gain = e.info.gain[last_][r];
      for (std::size_t j = 0; j < layers_.size(); ++j) {
        gain += e.info.gain[layers_[j]][r];
        e.residual[j][r] = log_ratio(layers_[j], r) - log_ratio(last_, r);
      }
      log_alpha[r] = -std::log(std::max(gain / total, least_gain_per_overlap));
    }
    e.carried = {std::move(log_alpha), e.info.log_evidence};
    for (std::size_t l = 0; l < a.size(); ++l) {
      if (!learned_[l]) e.carried.push_back(e.info.growth[l]);
    }
    return e;
  }

  /// Derivatives of the mean residuals and of the mean carried rows with respect to the free
  /// depths. Means are enough for the replicates too: what they neglect is of second order in the
  /// scatter.
  void measure_slopes(const Eigen::VectorXd& x, const Evaluation& here) {
    jacobian_.resize(x.size(), x.size());
    carried_slope_.resize(index(here.carried.size()), x.size());
    for (Eigen::Index j = 0; j < x.size(); ++j) {
      const double room = position_ - x.sum();
      const double d = std::min({relative_difference * x[j], largest_difference, 0.5 * room});
      Eigen::VectorXd moved = x;
      moved[j] += d;
      const Evaluation there = evaluate(moved);
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
    inverse_ = jacobian_.fullPivLu();
  }

  /// The Newton step for given residuals, one per free layer.
  template <class Residual>
  [[nodiscard]] Eigen::VectorXd newton_step(const Residual& residual) const {
    Eigen::VectorXd b(index(layers_.size()));
    for (std::size_t i = 0; i < layers_.size(); ++i) b[index(i)] = -residual(i);
    return b.size() == 0 ? b : Eigen::VectorXd(inverse_.solve(b));
  }

  [[nodiscard]] Eigen::VectorXd mean_step(const Evaluation& here) const {
    return newton_step([&](std::size_t i) { return numerics::mean(here.residual[i]); });
  }

  FixedPointNode finish(const Eigen::VectorXd& x, const Evaluation& here, const Status& status) {
    const std::size_t replicates = here.info.log_evidence.size();
    FixedPointNode node;
    node.position = position_;
    node.status = status;
    node.depth.assign(learned_.size(), Replicates(replicates, 0.0));
    node.growth.resize(learned_.size());
    node.gain_bias.assign(learned_.size(), 0.0);
    node.growth_bias.assign(learned_.size(), 0.0);
    std::vector<Replicates> carried = here.carried;
    for (std::size_t r = 0; r < replicates; ++r) {
      const Eigen::VectorXd step = newton_step([&](std::size_t i) { return here.residual[i][r]; });
      for (std::size_t row = 0; row < carried.size(); ++row) {
        carried[row][r] += carried_slope_.row(index(row)).dot(step);
      }
      const std::vector<double> a = depths(x + step);
      for (std::size_t l = 0; l < a.size(); ++l) node.depth[l][r] = a[l];
    }
    node.log_alpha = std::move(carried[0]);
    node.log_evidence = std::move(carried[1]);
    std::size_t row = 2;
    double gain = 0.0;
    double gain_bias = 0.0;
    bool possible = true;
    for (std::size_t l = 0; l < learned_.size(); ++l) {
      const double own_gain = numerics::mean(here.info.gain[l]);
      gain += own_gain;
      // At most the number of tokens [smi 14]. Their sum has no such bound: it may exceed the
      // number of tokens before it comes back to it at V -> 0.
      possible = possible && own_gain <= channel_.model().tokens * (1.0 + largest_bias);
      gain_bias += here.info.gain_bias[l];
      if (learned_[l]) {
        node.gain_bias[l] = here.info.gain_bias[l] / std::abs(own_gain);
        continue;
      }
      node.growth_bias[l] = here.info.growth_bias[l] / std::abs(numerics::mean(carried[row]));
      node.growth[l] = std::move(carried[row++]);
    }
    node.relative_bias = gain_bias / gain;
    if (node.relative_bias > largest_bias || !possible) {
      node.status.reason = StopReason::inaccurate;
    }
    return node;
  }

  const Channel& channel_;
  const std::vector<bool>& learned_;
  double position_;
  const Context& context_;
  std::vector<std::size_t> layers_;  // learned layers whose depth is free
  std::size_t last_ = 0;             // the learned layer that takes the rest
  Eigen::MatrixXd jacobian_;
  Eigen::FullPivLU<Eigen::MatrixXd> inverse_;
  Eigen::MatrixXd carried_slope_;
  int evaluations_ = 0;
};

}  // namespace

FixedPointNode solve_fixed_point(const Channel& channel, const std::vector<bool>& learned,
                                 double position, const std::vector<double>& guess,
                                 const Context& context) {
  return Solver(channel, learned, position, context).solve(guess);
}

}  // namespace onset::smi
