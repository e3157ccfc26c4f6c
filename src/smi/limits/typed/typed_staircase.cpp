#include "smi/limits/typed/typed_staircase.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/solvers/roots.hpp"
#include "onset/numerics/replicates.hpp"
#include "smi/limits/typed/label_bins.hpp"
#include "smi/limits/typed/label_rule.hpp"
#include "smi/limits/typed/leaps.hpp"
#include "smi/limits/typed/pieces.hpp"
#include "smi/limits/typed/subspace.hpp"
#include "smi/limits/typed/symmetric_tensors.hpp"
#include "smi/limits/typed/typed_branch.hpp"
#include "smi/limits/typed/typed_channel.hpp"
#include "smi/limits/typed/typed_checks.hpp"
#include "smi/limits/typed/verdict.hpp"
#include "smi/model/typed/typed_posterior.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// Outer points per replicate of a branch, by the number of fields: as many as are cheap.
constexpr std::size_t trace_points[] = {512, 128, 64, 64};
/// Tops of folds lie where V is small and few labels matter: with several fields their tolerance is
/// so many times that of other rows.
constexpr double fold_tolerance = 20.0;
/// The same for later thresholds, by the number of fields: a posterior of three takes milliseconds.
constexpr double later_tolerance[] = {1.0, 1.0, 5.0, 5.0};
constexpr std::size_t first_points = 256;
/// Where nothing is known all labels share the lines: how much closer they get at most, by the
/// number of fields. Samples in bins get so many times as many.
constexpr std::size_t finest_lines[] = {1, 4};
constexpr std::size_t most_binned = 16;
/// Directions of a smaller overlap are not learned yet.
constexpr double little_overlap = 0.02;
/// Standard errors by which sample ratios differ that are not the same.
constexpr double fold_errors = 3.0;
/// Jumps of what is never recovered exactly are looked for up to this log precision.
constexpr double late_log_precision = 4.0;

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
  Staircase(TypedLink link, const TypedStaircaseOptions& options, const Context& context,
            const TypedStageFound& found)
      : link_(std::move(link)), options_(&options), context_(&context), found_(&found) {
    relevant_ = relevant_directions(link_);
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
      TypedChannelOptions options = channel_options(points);
      if (!is_sampled()) options.refinement = static_cast<double>(points) / first_points;
      return typed_channel_at_zero(link_, options, *context_);
    }
    const auto size = known_.cols();
    return typed_channel(link_, state(Eigen::MatrixXd::Identity(size, size)),
                         channel_options(points), *context_);
  }

  /// Whether the averages given what is known are drawn: more points make them better. Otherwise
  /// closer lines do.
  [[nodiscard]] bool is_sampled() const { return known_.cols() > 0 || !has_label_integral(link_); }
  [[nodiscard]] std::size_t most_points() const {
    if (is_sampled()) return options_->max_points;
    return first_points *
           (needs_bins(link_) ? most_binned : finest_lines[link_.fields().size() - 1]);
  }

  void next_stage() {
    // The averages at zero are over all directions, also those that do not matter.
    std::vector<TypedAverages> averages = averages_given_known(first_points);
    for (std::size_t points = 2 * first_points;; points *= 2) {
      if (known_.cols() == 0) restrict_to(open(), averages);
      check(averages);
      // Symmetries forbid a mean outside this span, exactly.
      const Eigen::MatrixXd allowed =
          intersection(symmetric_directions(link_, known_), open()).transpose() * open();
      for (TypedAverages& a : averages) {
        a.pull = (allowed.transpose() * allowed * a.pull * allowed.transpose() * allowed).eval();
      }
      const RuleErrors& rule = averages.front().rule_error;
      const Estimate pull = estimate(pulls(averages), averages, rule.pull);
      const Verdict trivial = allowed.rows() == 0 ? Verdict::absent : verdict(pull);
      const bool is_enough = known_.cols() > 0 || pull.error <= options_->tolerance;
      if (trivial == Verdict::present && (is_enough || points > most_points())) {
        learn_at_once(averages, pull);
        return;
      }
      const Estimate growth = estimate(growth_rates(averages), averages, rule.growth);
      const LowerDegrees lower = allowed.rows() == 0 ? LowerDegrees::excluded : LowerDegrees::small;
      const Verdict easy = verdict(growth, lower);
      if (trivial == Verdict::absent && easy == Verdict::present &&
          (is_accurate(growth) || points > most_points())) {
        learn_from_threshold(averages, growth);
        return;
      }
      if (trivial == Verdict::absent && easy == Verdict::absent) {
        if (add_hard(lower)) return;
        break;
      }
      if (points > most_points()) break;
      averages = averages_given_known(points);
    }
    add({open(), TypedKind::unresolved});
    doubt("whether " + direction_names(open()) + " is learned at all is not resolved");
    leave_the_rest();
  }

  /// What neither means nor second moments show is hard where symmetries exclude both, or where a
  /// higher degree shows it; otherwise it may have weights that are only too small.
  [[nodiscard]] bool add_hard(LowerDegrees means) {
    const Leap leap = leap_given(link_, known_, {.seed = options_->seed}, *context_);
    // More points may show what was thought to be absent.
    if (leap.verdict == Verdict::present && leap.degree < 3) return false;
    const auto size = known_.cols();
    const bool is_excluded =
        means == LowerDegrees::excluded &&
        symmetric_tensors(link_, state(Eigen::MatrixXd::Identity(size, size)), 2) == 0;
    if (leap.verdict != Verdict::present && !is_excluded) return false;
    TypedStage stage{open(), TypedKind::hard};
    if (leap.verdict == Verdict::present) stage.leap = leap.degree;
    add(std::move(stage));
    leave_the_rest();
    return true;
  }

  /// Nothing more is learned from small overlaps.
  void leave_the_rest() {
    known_ = relevant_;
    is_complete_ = false;
  }

  /// Whether a first threshold is accurate enough. Later ones are found elsewhere.
  [[nodiscard]] bool is_accurate(const Estimate& growth) const {
    if (known_.cols() > 0) return true;
    const double alpha = 1.0 / growth.value;
    return growth.error * alpha * alpha <= options_->tolerance * std::max(1.0, alpha);
  }

  /// Averages over all directions, in the basis of some.
  static void restrict_to(const Eigen::MatrixXd& basis, std::vector<TypedAverages>& averages) {
    const Eigen::Index from = basis.rows();
    const Eigen::MatrixXd pairs = on_pairs(basis);
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
    if (known_.cols() == 0) {
      stage.gain = pull;
      if (pull.error > options_->tolerance) stairs_.met_tolerance = false;
    }
    // Given directions that have a threshold, these are learned with them.
    if (!stairs_.stages.empty()) stage.alpha = stairs_.stages.back().alpha;
    known_ = sum_of(known_, learned);
    trace_.reset();
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
    finish(open() * growing_directions(crossing->averages, growth.error), crossing->alpha,
           crossing->position);
  }

  void note_accuracy(const Estimate& alpha, double tolerance) {
    if (alpha.error > tolerance * std::max(1.0, alpha.value)) stairs_.met_tolerance = false;
  }

  /// `position`: the log precision of what was known before, at the threshold.
  void finish(const Eigen::MatrixXd& learned, const Estimate& alpha, double position = 0.0) {
    note_accuracy(alpha, known_.cols() > 0 ? later_accuracy() : options_->tolerance);
    known_ = sum_of(known_, learned);
    trace_.reset();
    TypedStage stage{learned, TypedKind::weak, alpha};
    stage.leap = 2;
    const bool is_last = stairs_.stages.size() + 1 == options_->max_stages;
    if (options_->exact_recovery && !is_last) stage.jump = jump_at(alpha, position, learned);
    add(std::move(stage));
  }

  /// The branch of the directions that are known now.
  [[nodiscard]] TypedTrace& trace() {
    if (!trace_) {
      const TypedRoles roles{known_, Eigen::MatrixXd(known_.rows(), 0)};
      trace_.emplace(TypedBranch(link_, roles, open(), options_->seed, *context_), points());
    }
    return *trace_;
  }
  [[nodiscard]] std::size_t points() const { return trace_points[link_.fields().size() - 1]; }
  [[nodiscard]] double later_accuracy() const {
    return later_tolerance[link_.fields().size() - 1] * options_->tolerance;
  }
  [[nodiscard]] BranchAccuracy top_accuracy() const {
    const double factor = link_.fields().size() > 1 ? fold_tolerance : 1.0;
    return {factor * options_->tolerance, 4 * points(),
            most_points_of(link_, options_->max_points)};
  }

  /// The overlap of directions just above their threshold: 0 where alpha rises along the branch
  /// from there on, the overlap where it has come back where it falls first, and nothing where
  /// errors do not say.
  [[nodiscard]] std::optional<Estimate> jump_at(const Estimate& alpha, double position,
                                                const Eigen::MatrixXd& learned) {
    for (std::size_t k = 0; trace().at(k) != nullptr; ++k) {
      const TypedBranch::Point& point = *trace().at(k);
      // Before the threshold these directions are not learned yet, but for noise.
      if (point.position <= position) continue;
      const double overlap = trace().branch().overlap(point.variance, learned);
      if (overlap < little_overlap) continue;
      const int direction = TypedTrace::direction(alpha, point);
      if (direction > 0) return Estimate{};
      const bool is_early = -std::log1p(-overlap) < early_log_precision;
      if (direction < 0 && !is_early) return trace().landing(alpha, k, learned);
    }
    return std::nullopt;
  }

  struct Crossing {
    Estimate alpha;
    std::vector<TypedAverages> averages;
    double position = 0.0;  ///< the log precision of what is known
  };

  /// The first sample ratio at which the open directions grow, on the branch of the known ones.
  /// Nothing where that lies above alpha_stop.
  [[nodiscard]] std::optional<Crossing> find_crossing(const Estimate& exact_growth) {
    std::size_t k = 0;
    for (; trace().at(k) != nullptr; ++k) {
      const TypedBranch::Point& point = *trace().at(k);
      if (numerics::mean(point.residual) > 0.0) break;
      if (numerics::mean(point.alpha) > options_->alpha_stop) return std::nullopt;
    }
    const std::optional<std::size_t> fold = new_fold(k + 1);
    std::optional<Crossing> refined;
    if (trace().at(k) != nullptr) refined = refine_crossing(k);
    if (!refined) {
      if (fold) add_fold(*fold);
      // The known directions become exact first: then the growth rate is that of exact knowledge.
      const double nu = exact_growth.value;
      return Crossing{{1.0 / nu, exact_growth.error / (nu * nu)},
                      averages_given_known(first_points)};
    }
    Crossing crossing = std::move(*refined);
    // Growing alpha leaves the branch where that folds back and comes to it again where alpha is as
    // large once more: what grows in between grows at once with the jump.
    if (is_above(last_threshold(), crossing.alpha)) crossing.alpha = last_threshold();
    if (!fold) return crossing;
    const Estimate top = trace().top(*fold, top_accuracy());
    if (is_above(top, crossing.alpha)) {
      crossing.alpha = top;
    } else {
      add_fold(*fold);
    }
    return crossing;
  }

  static bool is_above(const Estimate& a, const Estimate& b) {
    return a.value - b.value > fold_errors * std::hypot(a.error, b.error);
  }

  /// Where the last stage begins.
  [[nodiscard]] Estimate last_threshold() const {
    return stairs_.stages.empty() ? Estimate{} : stairs_.stages.back().alpha.value_or(Estimate{});
  }

  /// A fold before point `end` of the branch that is none of a stage that begins with a jump.
  [[nodiscard]] std::optional<std::size_t> new_fold(std::size_t end) {
    const std::optional<std::size_t> fold = trace().fold(end);
    if (!fold) return fold;
    for (const TypedStage& stage : stairs_.stages) {
      const bool jumps = stage.jump && stage.jump->value > 0.0 && stage.kind == TypedKind::weak;
      if (jumps && !is_above(TypedTrace::alpha_of(trace().points()[*fold]), *stage.alpha))
        return {};
    }
    return fold;
  }

  /// A row for a jump of what was learned before.
  void add_fold(std::size_t fold) {
    if (!options_->exact_recovery) return;
    TypedStage stage{known_, TypedKind::algorithmic};
    stage.alpha = trace().top(fold, top_accuracy());
    note_accuracy(*stage.alpha, top_accuracy().tolerance);
    stage.jump = trace().landing(*stage.alpha, fold + 1, known_);
    add(std::move(stage));
  }

  /// Between points k - 1 and k of the branch, or beside them: with more points the crossing may
  /// turn out to lie in the next interval, or nowhere before the end.
  [[nodiscard]] std::optional<Crossing> refine_crossing(std::size_t k) {
    const TypedBranch& branch = trace().branch();
    const auto position = [&](std::size_t j) {
      return j == 0 ? 1e-3 * trace().at(0)->position : trace().at(j - 1)->position;
    };
    std::size_t low = k;
    std::size_t high = k + 1;
    Crossing best;
    BranchEffort effort({later_accuracy(), first_points, options_->max_points});
    while (true) {
      std::map<double, TypedBranch::Point> seen;
      double last = 0.0;
      const auto f = [&](double s) {
        const auto known = seen.find(s);
        const TypedBranch::Point& point =
            known != seen.end() ? known->second
                                : seen.emplace(s, branch.at(s, trace().guess_at(s), effort.points(),
                                                            effort.refinement()))
                                      .first->second;
        last = s;
        return std::vector<Replicates>{point.residual, point.alpha};
      };
      const auto is_beyond = [&](std::size_t j) { return numerics::mean(f(position(j))[0]) > 0.0; };
      while (low > 0 && is_beyond(low)) high = low--;
      while (!is_beyond(high) && trace().at(high) != nullptr) low = high++;
      if (!is_beyond(high)) return std::nullopt;
      // What grows from the beginning on does so where the branch begins.
      const Replicates alpha =
          is_beyond(low)
              ? f(position(low))[1]
              : numerics::replicated_root(f, position(low), position(high), {.tolerance = 0.02})
                    .rows[0];
      best.averages = std::move(seen.at(last).averages);
      best.position = last;
      const double bias = ratio_bias(best.averages);
      best.alpha = numerics::reduce(alpha, bias * numerics::mean(alpha));
      check(best.averages);
      if (!effort.grow(best.alpha, bias)) return best;
    }
  }

  /// Where counting says that directions are recovered exactly, and where state evolution from
  /// small overlaps gets there, if that is later.
  void add_exact_recovery() {
    Eigen::MatrixXd exact(relevant_.rows(), 0);
    for (const ExactRecovery& one : exact_recovery(link_, relevant_, options_->seed, *context_)) {
      TypedStage stage{one.directions, TypedKind::perfect, one.alpha};
      stage.jump = Estimate{1.0, 0.0};
      add(std::move(stage));
      Eigen::MatrixXd late = one.directions;
      while (is_complete_ && late.cols() > 0) {
        const Eigen::MatrixXd now = add_algorithmic(exact, one, late);
        late = without(late, now);
        exact = sum_of(exact, now);
      }
      exact = sum_of(exact, late);
    }
    if (is_complete_) look_for_late_folds(exact);
  }

  /// The branch of what is not exact yet, to its end. Returns which of those that are late
  /// become exact there: others may stay behind and follow given these.
  [[nodiscard]] Eigen::MatrixXd add_algorithmic(const Eigen::MatrixXd& exact,
                                                const ExactRecovery& perfect,
                                                const Eigen::MatrixXd& late) {
    const Eigen::MatrixXd left = without(relevant_, exact);
    const Eigen::MatrixXd none(relevant_.rows(), 0);
    TypedTrace branch(TypedBranch(link_, {left, exact}, none, options_->seed, *context_), points());
    TypedRecovery recovery = recovery_along(branch, perfect.alpha.value, top_accuracy());
    const Eigen::MatrixXd end = branch.points().back().variance;
    Eigen::MatrixXd now = exact_part({perfect}, late, [&](const Eigen::MatrixXd& some) {
      return branch.branch().overlap(end, some) > exact_overlap;
    });
    stairs_.recovered_below = std::max(stairs_.recovered_below, recovery.below);
    if (!recovery.hard_phase) return now;
    // Nothing is recovered from small overlaps before it is learned at all.
    const Estimate begin = beginning_of(left);
    if (is_above(begin, recovery.algorithmic)) recovery.algorithmic = begin;
    note_accuracy(recovery.algorithmic, top_accuracy().tolerance);
    TypedStage stage{now, TypedKind::algorithmic, recovery.algorithmic};
    stage.jump = Estimate{1.0, 0.0};
    add(std::move(stage));
    return now;
  }

  /// Where the last of some directions begins to be learned.
  [[nodiscard]] Estimate beginning_of(const Eigen::MatrixXd& directions) const {
    Estimate out;
    for (const TypedStage& stage : stairs_.stages) {
      if (stage.kind != TypedKind::weak || !is_above(*stage.alpha, out)) continue;
      if (intersection(stage.directions, directions).cols() > 0) out = *stage.alpha;
    }
    return out;
  }

  /// Jumps of directions that are never recovered, as far as overlaps of 0.98 or so.
  void look_for_late_folds(const Eigen::MatrixXd& exact) {
    const Eigen::MatrixXd left = without(relevant_, exact);
    if (left.cols() == 0) return;
    known_ = left;
    const Eigen::MatrixXd none(relevant_.rows(), 0);
    trace_.emplace(TypedBranch(link_, {left, exact}, none, options_->seed, *context_), points());
    const double end = late_log_precision * static_cast<double>(left.cols());
    std::size_t k = 0;
    while (trace().at(k) != nullptr && trace().at(k)->position < end) ++k;
    const auto fold = new_fold(k + 1);
    if (fold) add_fold(*fold);
  }

  TypedLink link_;
  const TypedStaircaseOptions* options_;
  const Context* context_;
  const TypedStageFound* found_;
  Eigen::MatrixXd relevant_;
  Eigen::MatrixXd known_;
  TypedStaircase stairs_;
  std::optional<TypedTrace> trace_;
  bool ended_ = false;
  bool is_complete_ = true;  ///< every direction that matters is learned from small overlaps
};

}  // namespace

TypedStaircase typed_staircase(const TypedLink& link, const TypedStaircaseOptions& options,
                               const Context& context, const TypedStageFound& found) {
  return Staircase(link.up_to_injections(), options, context, found).climb();
}

std::string_view to_string(TypedKind kind) {
  switch (kind) {
    case TypedKind::trivial: return "trivial";
    case TypedKind::weak: return "weak";
    case TypedKind::hard: return "hard";
    case TypedKind::perfect: return "perfect";
    case TypedKind::algorithmic: return "algorithmic";
    case TypedKind::irrelevant: return "irrelevant";
    case TypedKind::unresolved: return "unresolved";
  }
  return "";
}

namespace {

/// Replicates, for estimates of cost.
constexpr double sets_of_points = 8.0;

/// The seconds that averages take where nothing is known.
double seconds_at_zero(const TypedLink& link, const TypedStaircaseOptions& options) {
  const std::size_t n = link.fields().size();
  if (needs_bins(link)) {
    // Errors are near 4e-4 to begin with and fall a little slower than samples grow.
    const double grown = std::clamp(4e-4 / options.tolerance, 1.0, double{most_binned});
    return 2.0 * binned_seconds(link, grown);
  }
  if (!has_label_integral(link)) {
    return sets_of_points * 4.0 * static_cast<double>(first_points) *
           typed_posterior_seconds(link, n);
  }
  // Evaluations of the integral over labels, by the number of normals: measured. Discrete labels
  // are few; others take closer lines for every kink or jump.
  constexpr double integral_of_densities[] = {1e5, 1e7};
  constexpr double integral_of_atoms[] = {1e5, 4e6};
  const bool is_discrete = link.is_discrete();
  const double kinks = n == 1 || is_discrete ? 0.0 : static_cast<double>(link.switches());
  const double evaluations = (is_discrete ? integral_of_atoms : integral_of_densities)[n - 1];
  return 3.0 * link.seconds() * evaluations * (1.0 + kinks) * turning_effort(link);
}

}  // namespace

double typed_bytes(const TypedLink& link) {
  // Measured: with the most samples that bins may need, and per turn of a link along the lines of
  // all sets.
  constexpr double usual = 2e8, bins = 4e8, per_turn = 2.5e6;
  if (needs_bins(link)) return usual + bins;
  return usual + (link.fields().size() > 1 ? per_turn * turns_along_lines(link) : 0.0);
}

double typed_staircase_seconds(const TypedLink& link, const TypedStaircaseOptions& options) {
  constexpr double root_points = 5.0, shape_steps = 4.0;
  const std::size_t n = link.fields().size();
  const double posterior = typed_posterior_seconds(link, n);
  const auto size = static_cast<Eigen::Index>(link.directions());
  const TypedRoles all{Eigen::MatrixXd::Identity(size, size), Eigen::MatrixXd(size, 0)};
  // A matrix V of which symmetries leave more than its size is iterated.
  const double steps = commuting_basis(link, all).size() > 1 ? 1.0 + shape_steps : 1.0;
  const double trace = sets_of_points * steps *
                       static_cast<double>(branch_points() * trace_points[n - 1]) * posterior;
  const double root =
      sets_of_points * root_points * 4.0 * static_cast<double>(first_points) * posterior;
  const std::size_t stages =
      options.max_stages == 0 ? link.directions() : std::min(options.max_stages, link.directions());
  // Not every direction has a stage of its own, nor every link of one field a fold that takes more
  // points.
  const double later = 0.5 * (static_cast<double>(stages) - 1.0);
  const double end = n == 1 ? 1.5 * trace : trace;
  return 0.05 + seconds_at_zero(link, options) + later * (trace + root) +
         (options.max_stages == 0 && options.exact_recovery ? end : 0.0);
}

}  // namespace onset::smi
