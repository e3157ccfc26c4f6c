#include "smi/limits/typed/typed_staircase.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/solvers/roots.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/leaps.hpp"
#include "smi/limits/typed/pieces.hpp"
#include "smi/limits/typed/subspace.hpp"
#include "smi/limits/typed/typed_channel.hpp"
#include "smi/limits/typed/typed_checks.hpp"
#include "smi/limits/typed/verdict.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// Outer points per replicate that locate a threshold, and log precisions on the way.
constexpr std::size_t scan_points = 64;
constexpr double scan_step = 0.25;
constexpr double max_log_precision = 12.0;
constexpr std::size_t first_points = 256;
/// Lines are laid at most so much closer than by default.
constexpr double max_refinement = 8.0;

/// The largest eigenvalue of every replicate's matrix, as its Rayleigh quotient with the
/// eigenvector of the others: the largest eigenvalue of a noisy matrix itself is too large.
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

const Eigen::MatrixXd& pull_of(const TypedAverages& a) {
  return a.pull;
}
const Eigen::MatrixXd& growth_of(const TypedAverages& a) {
  return a.growth;
}

/// The open directions in the range of the top eigenmatrix of the growth map.
Eigen::MatrixXd growing_directions(const std::vector<TypedAverages>& averages, double error) {
  const Eigen::MatrixXd mean = mean_of(averages, growth_of);
  const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(mean);
  const Eigen::Index all = mean.rows();
  const auto size = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(all))));
  const double top = eigen.values(all - 1);
  const double apart = std::max(present_errors * error, 1e-6 * top);
  // The part of the identity in the top eigenspace: positive, and full where the top is degenerate.
  Eigen::VectorXd identity = Eigen::VectorXd::Zero(all);
  for (Eigen::Index p = 0; p < size; ++p) identity(p * size + p) = 1.0;
  Eigen::VectorXd part = Eigen::VectorXd::Zero(all);
  for (Eigen::Index k = 0; k < all; ++k) {
    if (eigen.values(k) < top - apart) continue;
    const Eigen::VectorXd u = eigen.vectors.col(k);
    part += u * u.dot(identity);
  }
  Eigen::MatrixXd matrix = Eigen::Map<Eigen::MatrixXd>(part.data(), size, size);
  matrix = (0.5 * (matrix + matrix.transpose())).eval();
  return range_above(matrix, range_part * matrix.norm());
}

/// Follows one link from stage to stage.
class Staircase {
 public:
  Staircase(const TypedLink& link, const TypedStaircaseOptions& options, const Context& context,
            const TypedStageFound& found)
      : link_(&link), options_(&options), context_(&context), found_(&found) {
    relevant_ = relevant_directions(link);
    known_ = Eigen::MatrixXd(relevant_.rows(), 0);
  }

  TypedStaircase climb() {
    const Eigen::MatrixXd irrelevant = complement(relevant_);
    while (open().cols() > 0 && !ended_) next_stage();
    if (irrelevant.cols() > 0) add({irrelevant, TypedKind::irrelevant});
    if (options_->exact_recovery && (options_->max_stages == 0 || !ended_)) add_exact_recovery();
    return std::move(stairs_);
  }

 private:
  [[nodiscard]] Eigen::MatrixXd open() const { return without(relevant_, known_); }

  [[nodiscard]] KnownDirections state(const Eigen::MatrixXd& overlap) const {
    return {known_, open(), overlap};
  }

  [[nodiscard]] TypedChannelOptions channel_options(std::size_t points) const {
    TypedChannelOptions out;
    out.points = points;
    out.seed = options_->seed;
    out.refinement = refinement_;
    return out;
  }

  void add(TypedStage stage) {
    if (*found_) (*found_)(stage);
    stairs_.stages.push_back(std::move(stage));
    const std::size_t count = stairs_.stages.size();
    if (options_->max_stages > 0 && count >= options_->max_stages) ended_ = true;
  }

  void check(const std::vector<TypedAverages>& averages) {
    const std::string found = doubt_in(averages);
    if (!found.empty()) doubt(found);
  }

  void doubt(const std::string& reason) {
    if (stairs_.doubt.find(reason) != std::string::npos) return;
    stairs_.doubt += (stairs_.doubt.empty() ? "" : "; ") + reason;
  }

  /// What labels say of the open directions where the known ones are known exactly; where nothing
  /// is known, by integrals over the label.
  [[nodiscard]] std::vector<TypedAverages> averages_given_known(std::size_t points) {
    if (known_.cols() == 0) {
      return typed_channel_at_zero(*link_, channel_options(points), *context_);
    }
    const auto size = known_.cols();
    return typed_channel(*link_, state(Eigen::MatrixXd::Identity(size, size)),
                         channel_options(points), *context_);
  }

  void next_stage() {
    // The averages at zero are over all directions, also those that do not matter.
    std::vector<TypedAverages> averages = averages_given_known(first_points);
    for (std::size_t points = 2 * first_points;; points *= 2) {
      if (known_.cols() == 0) restrict_to(open(), averages);
      check(averages);
      // Symmetries forbid a mean outside this span, exactly.
      const Eigen::MatrixXd allowed =
          intersection(symmetric_directions(*link_, known_), open()).transpose() * open();
      for (TypedAverages& a : averages) {
        a.pull = (allowed.transpose() * allowed * a.pull * allowed.transpose() * allowed).eval();
      }
      const Estimate pull = estimate(top_eigenvalues(averages, pull_of), averages);
      const Verdict trivial = allowed.rows() == 0 ? Verdict::absent : verdict(pull);
      if (trivial == Verdict::present) {
        learn_at_once(averages, pull);
        return;
      }
      const Estimate growth = estimate(top_eigenvalues(averages, growth_of), averages);
      const Verdict easy = verdict(growth);
      if (trivial == Verdict::absent && easy == Verdict::present) {
        learn_from_threshold(averages, growth);
        return;
      }
      if (trivial == Verdict::absent && easy == Verdict::absent) {
        TypedStage stage{open(), TypedKind::hard};
        const Leap leap = leap_given(*link_, known_, {.seed = options_->seed}, *context_);
        if (leap.verdict == Verdict::present) stage.leap = leap.degree;
        add(std::move(stage));
        known_ = relevant_;
        return;
      }
      if (known_.cols() == 0 || points > options_->max_points) break;
      averages = averages_given_known(points);
    }
    add({open(), TypedKind::unresolved});
    doubt("whether " + direction_names(open()) + " is learned at all is not resolved");
    known_ = relevant_;
  }

  /// Averages over all directions, in the basis of some.
  static void restrict_to(const Eigen::MatrixXd& basis, std::vector<TypedAverages>& averages) {
    const Eigen::Index from = basis.rows();
    const Eigen::Index to = basis.cols();
    Eigen::MatrixXd pairs(from * from, to * to);
    for (Eigen::Index p = 0; p < from; ++p) {
      for (Eigen::Index q = 0; q < to; ++q) {
        pairs.block(p * from, q * to, from, to) = basis(p, q) * basis;
      }
    }
    for (TypedAverages& a : averages) {
      if (a.pull.rows() != from) continue;
      a.pull = (basis.transpose() * a.pull * basis).eval();
      a.growth = (pairs.transpose() * a.growth * pairs).eval();
    }
  }

  void learn_at_once(const std::vector<TypedAverages>& averages, const Estimate& pull) {
    const Eigen::MatrixXd mean = mean_of(averages, pull_of);
    const double least = std::max(present_errors * pull.error, range_part * pull.value);
    const Eigen::MatrixXd learned = open() * range_above(mean, least);
    TypedStage stage{learned, TypedKind::trivial, Estimate{}};
    stage.leap = 1;
    if (known_.cols() == 0) stage.gain = pull;
    // Given directions that have a threshold, these are learned with them.
    if (!stairs_.stages.empty()) stage.alpha = stairs_.stages.back().alpha;
    known_ = sum_of(known_, learned);
    add(std::move(stage));
  }

  void learn_from_threshold(const std::vector<TypedAverages>& exact, const Estimate& growth) {
    if (known_.cols() == 0) {
      finish(open() * growing_directions(exact, growth.error),
             {1.0 / growth.value, growth.error / (growth.value * growth.value)});
      return;
    }
    const std::optional<Crossing> crossing = find_crossing(growth);
    if (!crossing) {
      ended_ = true;
      return;
    }
    finish(open() * growing_directions(crossing->averages, growth.error), crossing->alpha);
  }

  void finish(const Eigen::MatrixXd& learned, const Estimate& alpha) {
    if (alpha.error > options_->tolerance * std::max(1.0, alpha.value)) {
      stairs_.met_tolerance = false;
    }
    known_ = sum_of(known_, learned);
    TypedStage stage{learned, TypedKind::weak, alpha};
    stage.leap = 2;
    add(std::move(stage));
  }

  struct Crossing {
    Estimate alpha;
    std::vector<TypedAverages> averages;
  };

  /// The variances of the known directions on the branch of fixed points, at a log precision
  /// s = -log det V: V^-1 - I is a multiple of the precision matrix [links 3].
  [[nodiscard]] Eigen::MatrixXd variance_at(double s, Eigen::MatrixXd variance) {
    const Eigen::Index size = known_.cols();
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(size, size);
    if (size == 1) return identity * std::exp(-s);
    for (int step = 0; step < 60; ++step) {
      const auto averages = typed_channel(*link_, state(identity - variance),
                                          channel_options(scan_points), *context_);
      const Eigen::MatrixXd precision = mean_of(
          averages, [](const TypedAverages& a) -> const Eigen::MatrixXd& { return a.precision; });
      const numerics::SymmetricEigen eigen = numerics::symmetric_eigen(precision);
      const auto excess = [&](double log_alpha) {
        double sum = -s;
        for (const double lambda : eigen.values) {
          sum += std::log1p(std::exp(log_alpha) * std::max(0.0, lambda));
        }
        return sum;
      };
      const double alpha = std::exp(numerics::bracketed_root(excess, -40.0, 40.0).x);
      // The inverse of I + alpha times the precision matrix.
      const Eigen::VectorXd left = (1.0 + alpha * eigen.values.array()).inverse();
      const Eigen::MatrixXd next = eigen.vectors * left.asDiagonal() * eigen.vectors.transpose();
      const double change = (next - variance).norm() / variance.norm();
      variance = next;
      if (change < 1e-6) break;
    }
    return variance;
  }

  /// Residual alpha nu - 1 and alpha of every replicate at a fixed point.
  struct PointOnBranch {
    Replicates residual, alpha;
    std::vector<TypedAverages> averages;
  };

  [[nodiscard]] PointOnBranch point_at(const Eigen::MatrixXd& variance, std::size_t points) {
    const Eigen::Index size = known_.cols();
    const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(size, size);
    PointOnBranch out;
    out.averages =
        typed_channel(*link_, state(identity - variance), channel_options(points), *context_);
    const Replicates nu = top_eigenvalues(out.averages, growth_of);
    const double wanted =
        (numerics::symmetric_eigen(variance).values.array().inverse() - 1.0).sum();
    for (std::size_t r = 0; r < nu.size(); ++r) {
      out.alpha.push_back(wanted / out.averages[r].precision.trace());
      out.residual.push_back(out.alpha.back() * nu[r] - 1.0);
    }
    return out;
  }

  /// The first sample ratio at which the open directions grow, on the branch of the known ones.
  /// Nothing where that lies above alpha_stop.
  [[nodiscard]] std::optional<Crossing> find_crossing(const Estimate& exact_growth) {
    const Eigen::Index size = known_.cols();
    Eigen::MatrixXd variance = Eigen::MatrixXd::Identity(size, size);
    Eigen::MatrixXd before = variance;
    double s = 0.0;
    double largest = 0.0;  // alpha so far
    bool crossed = false;
    while (s < max_log_precision && !crossed) {
      before = variance;
      s += scan_step * static_cast<double>(size);
      variance = variance_at(s, std::exp(-scan_step) * variance);
      const PointOnBranch point = point_at(variance, scan_points);
      const double alpha = numerics::mean(point.alpha);
      if (alpha < largest * (1.0 - 1e-3)) {
        doubt(
            "a jump of the directions learned before lies below a threshold, which is then only "
            "a bound");
      }
      largest = std::max(largest, alpha);
      crossed = numerics::mean(point.residual) > 0.0;
      if (!crossed && alpha > options_->alpha_stop) return std::nullopt;
    }
    if (!crossed) {
      // The known directions become exact first: then the growth rate is that of exact knowledge.
      const double nu = exact_growth.value;
      return Crossing{{1.0 / nu, exact_growth.error / (nu * nu)},
                      averages_given_known(first_points)};
    }
    const double step = scan_step * static_cast<double>(size);
    return refine_crossing(s - step, s, before, variance);
  }

  [[nodiscard]] Crossing refine_crossing(double low, double high, const Eigen::MatrixXd& at_low,
                                         const Eigen::MatrixXd& at_high) {
    Crossing best;
    refinement_ = 1.0;
    for (std::size_t points = first_points;;) {
      std::vector<TypedAverages> last;
      const auto f = [&](double s) {
        // Between the two ends the logarithm of the variance is nearly straight.
        const double t = (s - low) / (high - low);
        Eigen::MatrixXd variance = (1.0 - t) * at_low + t * at_high;
        variance = variance_at(s, variance);
        PointOnBranch point = point_at(variance, points);
        last = std::move(point.averages);
        return std::vector<Replicates>{point.residual, point.alpha};
      };
      const auto root = numerics::replicated_root(f, low, high, {.tolerance = 0.02});
      best.averages = std::move(last);
      best.alpha =
          numerics::reduce(root.rows[0], ratio_bias(best.averages) * numerics::mean(root.rows[0]));
      check(best.averages);
      const double wanted = options_->tolerance * std::max(1.0, best.alpha.value);
      // Closer lines against the bias of ratios, more labels against scatter.
      const bool is_biased = ratio_bias(best.averages) * best.alpha.value > 0.5 * wanted;
      const bool may_refine = is_biased && refinement_ < max_refinement;
      const bool may_add = !is_biased && 4 * points <= options_->max_points;
      if (best.alpha.error <= wanted || !(may_refine || may_add)) {
        refinement_ = 1.0;
        return best;
      }
      if (may_refine) {
        refinement_ *= 2.0;
      } else {
        points *= 4;
      }
    }
  }

  void add_exact_recovery() {
    for (const ExactRecovery& one : exact_recovery(*link_, relevant_, options_->seed)) {
      add({one.directions, TypedKind::perfect, one.alpha});
    }
  }

  const TypedLink* link_;
  const TypedStaircaseOptions* options_;
  const Context* context_;
  const TypedStageFound* found_;
  Eigen::MatrixXd relevant_;
  Eigen::MatrixXd known_;
  TypedStaircase stairs_;
  bool ended_ = false;
  double refinement_ = 1.0;  ///< of the lines, while one threshold is refined
};

}  // namespace

TypedStaircase typed_staircase(const TypedLink& link, const TypedStaircaseOptions& options,
                               const Context& context, const TypedStageFound& found) {
  return Staircase(link, options, context, found).climb();
}

std::string_view to_string(TypedKind kind) {
  switch (kind) {
    case TypedKind::trivial: return "trivial";
    case TypedKind::weak: return "weak";
    case TypedKind::hard: return "hard";
    case TypedKind::perfect: return "perfect";
    case TypedKind::irrelevant: return "irrelevant";
    case TypedKind::unresolved: return "unresolved";
  }
  return "";
}

double typed_staircase_seconds(const TypedLink& link, const TypedStaircaseOptions& options) {
  // Evaluations of a posterior and of the integral over labels, by the number of normals.
  constexpr double posterior[] = {300.0, 6e3, 8e4, 1.2e5};
  constexpr double integral[] = {1e5, 4e7, 1e9, 2e9};
  const std::size_t n = std::min<std::size_t>(link.fields().size(), 4) - 1;
  const double samples = 8.0 * (30.0 * scan_points + 8.0 * first_points);
  const double later = std::min(options.max_stages == 0 ? link.directions() : options.max_stages,
                                link.directions()) -
                       1.0;
  return 0.05 + 3.0 * link.seconds() * (integral[n] + later * 2.0 * samples * posterior[n]);
}

}  // namespace onset::smi
