#include "aim/limits/erm/fixed_point.hpp"

#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "aim/limits/erm/shrunk_spectrum.hpp"
#include "aim/limits/golden_section.hpp"

namespace onset::aim {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double coarse_tolerance = 1e-7;
constexpr double fine_tolerance = 1e-9;
constexpr int max_newton_steps = 40;
constexpr int max_chord_steps = 12;
/// Residuals above this are no fixed point.
constexpr double lost = 0.05;
/// Largest change of a logarithm in a step.
constexpr double max_move = 1.0;
/// Step of finite differences of the logarithms.
constexpr double difference_step = 1e-4;
/// Ratio of decays along a path, and its ends.
constexpr double path_ratio = 1.6;
constexpr double max_path_decay = 1e3;
constexpr double min_path_decay = 1e-9;

Vector3d logs(const Conjugates& h) {
  return {std::log(h.norm), std::log(h.overlap), std::log(h.chi)};
}

Conjugates exps(const Vector3d& x) {
  return {std::exp(x(0)), std::exp(x(1)), std::exp(x(2))};
}

Conjugates times(double factor, const Conjugates& h) {
  return {factor * h.norm, factor * h.overlap, factor * h.chi};
}

bool is_positive(const Conjugates& h) {
  return h.norm > 0.0 && h.overlap > 0.0 && h.chi > 0.0;
}

class Equations {
 public:
  Equations(const TrainingOutput& output, const PenaltyTerm& penalty, double alpha,
            const Context& context)
      : output_(output), penalty_(penalty), alpha_(alpha), context_(context) {}

  [[nodiscard]] RuleSolution at(const Vector3d& x, std::size_t rule) const {
    context_.check();
    const Conjugates hats = exps(x);
    StudentAtMinimum student = student_of(penalty_, hats);
    const OutputMoments moments = output_.at(student.overlaps, rule);
    return {rule, hats, student, moments};
  }

  /// Logarithms of what the output side answers, less those that went in; nothing where an answer
  /// is no conjugate.
  [[nodiscard]] std::optional<Vector3d> residual(const RuleSolution& s, const Vector3d& x) const {
    const Conjugates h = times(2.0 * alpha_, s.moments.hats);
    if (!is_positive(h)) return std::nullopt;
    const Vector3d r = logs(h) - x;
    if (!r.allFinite()) return std::nullopt;
    return r;
  }
  [[nodiscard]] std::optional<Vector3d> residual(const Vector3d& x, std::size_t rule) const {
    return residual(at(x, rule), x);
  }
  /// The mean over the rules that are solved together: one grid, or all replicates.
  [[nodiscard]] std::optional<Vector3d> fine_residual(const Vector3d& x) const {
    const std::size_t last = output_.replicated() ? output_.rules() - 1 : 1;
    Vector3d sum = Vector3d::Zero();
    for (std::size_t rule = 1; rule <= last; ++rule) {
      const auto r = residual(x, rule);
      if (!r) return std::nullopt;
      sum += *r;
    }
    return sum / static_cast<double>(last);
  }

  [[nodiscard]] std::optional<Matrix3d> slopes(const Vector3d& x, const Vector3d& here) const {
    Matrix3d j;
    for (int i = 0; i < 3; ++i) {
      Vector3d y = x;
      y(i) += difference_step;
      const auto r = residual(y, 0);
      if (!r) return std::nullopt;
      j.col(i) = (*r - here) / difference_step;
    }
    return j;
  }

 private:
  const TrainingOutput& output_;
  PenaltyTerm penalty_;
  double alpha_;
  const Context& context_;
};

Vector3d limited(const Vector3d& move) {
  const double size = move.cwiseAbs().maxCoeff();
  return size > max_move ? Vector3d(move * (max_move / size)) : move;
}

/// Newton's method on the coarse rule; steps that do not lower the residual are halved, and where
/// that fails the map itself is followed halfway.
bool coarse_newton(const Equations& equations, Vector3d& x, Matrix3d& slopes) {
  auto r = equations.residual(x, 0);
  for (int step = 0; r && step < max_newton_steps; ++step) {
    const auto j = equations.slopes(x, *r);
    if (!j) return false;
    slopes = *j;
    if (r->norm() < coarse_tolerance) return true;
    Vector3d move = limited(-j->partialPivLu().solve(*r));
    bool better = false;
    for (int halving = 0; halving < 4 && move.allFinite(); ++halving, move *= 0.5) {
      const auto next = equations.residual(x + move, 0);
      if (!next || next->norm() >= r->norm()) continue;
      x += move;
      r = next;
      better = true;
      break;
    }
    if (!better) {
      x += limited(0.5 * *r);
      r = equations.residual(x, 0);
    }
  }
  return false;
}

/// The fine rules by chords with the coarse slopes, corrected by what each step shows (Broyden).
/// Ends at the best point where jumps of single samples hide the rest.
void fine_chords(const Equations& equations, Vector3d& x, Matrix3d& slopes, FixedPoint& point) {
  auto r = equations.fine_residual(x);
  Vector3d best = x;
  double least = std::numeric_limits<double>::infinity();
  point.status = {StopReason::stagnated, 0, least};
  for (int step = 0; r && step < max_chord_steps; ++step) {
    if (r->norm() < least) {
      least = r->norm();
      best = x;
      point.distance = slopes.partialPivLu().solve(*r).cwiseAbs().maxCoeff();
    }
    point.status.iterations = step;
    if (r->norm() < fine_tolerance) {
      point.status.reason = StopReason::converged;
      break;
    }
    const Vector3d move = limited(-slopes.partialPivLu().solve(*r));
    x += move;
    const auto next = equations.fine_residual(x);
    if (!next) break;
    slopes += (*next - *r - slopes * move) * move.transpose() / move.squaredNorm();
    r = next;
  }
  point.status.residual = least;
  if (least > lost) point.status.reason = StopReason::diverged;
  x = best;
}

/// Conjugates of a student that is nearly the best multiple of the teacher: large samples end
/// there. What it leaves open is a guess; chi is that of [aim 85] with the first conjugates.
Conjugates nearly_learned(const TrainingOutput& output, const PenaltyTerm& penalty, double alpha) {
  constexpr double unresolved = 0.03;
  constexpr double most_open = 0.1;
  const TeacherMultiple best = best_multiple(output, penalty, alpha);
  const double q0 = 1.0 + penalty.rho;
  const Overlaps close{best.zeta * best.zeta * q0, best.zeta * q0,
                       best.zeta / nothing_learned(output, alpha, 0).overlap,
                       std::min(most_open, unresolved / (best.zeta * best.zeta)) * q0};
  return times(2.0 * alpha, output.at(close, 0).hats);
}

/// Newton's method from a start, and down a path of decays from the student that learned nothing
/// where that fails.
bool coarse_search(const TrainingOutput& output, const PenaltyTerm& penalty, double alpha,
                   const Context& context, const Conjugates& start, Vector3d& x, Matrix3d& slopes) {
  const Equations equations(output, penalty, alpha, context);
  const Conjugates nothing = nothing_learned(output, alpha, 0);
  x = logs(start.norm > 0.0 ? start : nothing);
  if (coarse_newton(equations, x, slopes)) return true;
  const Conjugates learned = nearly_learned(output, penalty, alpha);
  if (is_positive(learned)) {
    x = logs(learned);
    if (coarse_newton(equations, x, slopes)) return true;
  }
  PenaltyTerm on_path = penalty;
  x = logs(nothing);
  double decay = std::min(max_decay(output, penalty, alpha, 0), max_path_decay);
  while (decay > path_ratio * std::max(penalty.decay, min_path_decay)) {
    decay /= path_ratio;
    on_path.decay = decay;
    (void)coarse_newton(Equations(output, on_path, alpha, context), x, slopes);
  }
  return coarse_newton(equations, x, slopes);
}

}  // namespace

/// A golden section in log zeta. The objective is convex for cross-entropy; for squared errors any
/// zeta is a bound, and no worse than the teacher itself.
TeacherMultiple best_multiple(const TrainingOutput& output, const PenaltyTerm& penalty,
                              double alpha) {
  constexpr double width = 1e-3;  // the objective is flat to its square
  constexpr double log_reach = 25.0;
  const bool ridge = penalty.kind == Penalty::ridge;
  const auto multiple = [&](double log_zeta) {
    const double zeta = std::exp(log_zeta);
    return TeacherMultiple{
        zeta, ridge ? zeta * zeta * (1.0 + penalty.rho) : zeta * std::sqrt(penalty.rho)};
  };
  const auto objective = [&](double log_zeta) {
    const TeacherMultiple m = multiple(log_zeta);
    return alpha * output.multiple_loss(m.zeta, 0) + penalty.decay * m.penalty;
  };
  const double best = golden_section(objective, -log_reach, log_reach, width);
  return multiple(objective(best) < objective(0.0) ? best : 0.0);
}

Conjugates nothing_learned(const TrainingOutput& output, double alpha, std::size_t rule) {
  return times(2.0 * alpha, output.at({}, rule).hats);
}

double max_decay(const TrainingOutput& output, const PenaltyTerm& penalty, double alpha,
                 std::size_t rule) {
  if (penalty.kind == Penalty::ridge) return std::numeric_limits<double>::infinity();
  const Conjugates h = nothing_learned(output, alpha, rule);
  return 0.5 * h.overlap * right_edge(penalty.rho, h.norm / (h.overlap * h.overlap));
}

std::optional<RuleSolution> coarse_fixed_point(const TrainingOutput& output,
                                               const PenaltyTerm& penalty, double alpha,
                                               Conjugates& start, const Context& context) {
  Vector3d x;
  Matrix3d slopes = -Matrix3d::Identity();
  if (!coarse_search(output, penalty, alpha, context, start, x, slopes)) return std::nullopt;
  start = exps(x);
  return Equations(output, penalty, alpha, context).at(x, 0);
}

FixedPoint fixed_point(const TrainingOutput& output, const PenaltyTerm& penalty, double alpha,
                       Conjugates& start, const Context& context) {
  const Equations equations(output, penalty, alpha, context);
  Vector3d x;
  Matrix3d slopes = -Matrix3d::Identity();
  // Where the coarse rule does not get there the fine ones may.
  (void)coarse_search(output, penalty, alpha, context, start, x, slopes);
  FixedPoint point;
  fine_chords(equations, x, slopes, point);
  start = exps(x);
  // Every replicate, or the finer grid, takes one step to a solution of its own.
  for (std::size_t rule = 1; rule < output.rules(); ++rule) {
    RuleSolution s = equations.at(x, rule);
    const auto r = equations.residual(s, x);
    const bool solved = !output.replicated() && rule == 1;
    if (r && !solved) s = equations.at(x + limited(-slopes.partialPivLu().solve(*r)), rule);
    point.solutions.push_back(s);
  }
  return point;
}

}  // namespace onset::aim
