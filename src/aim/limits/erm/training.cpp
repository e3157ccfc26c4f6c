#include "aim/limits/erm/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "aim/limits/erm/recovery.hpp"
#include "aim/limits/erm/shrunk_spectrum.hpp"
#include "aim/limits/flow/risk.hpp"
#include "aim/limits/golden_section.hpp"
#include "aim/model/channel.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

/// Relative precision of closed forms and their roots; wide noise cancels against itself, and costs
/// as many digits as it has.
constexpr double closed_precision = 1e-12;
constexpr double wide_noise_precision = 1e-14;
/// All grids of two tokens end at the same radius, which their difference does not show. Where the
/// limit of no decay is known, that is 6e-8 of the training loss.
constexpr double shared_truncation = 1e-7;
/// Criteria of [aim 102].
constexpr double few_bistable = 1e-3;
constexpr double many_bistable = 1e-2;
/// Largest number of tokens whose samples are minimised one by one.
constexpr int max_sampled_tokens = 6;
/// Search for the best decay: ratio of the steps, how many, when to give up, and the last interval
/// of the logarithm.
constexpr double scan_ratio = 1.5;
constexpr int max_scan_steps = 36;
/// The same with labels that do not fix the length of S: there is no limit of small decays, and the
/// best one falls like 1/alpha while the largest grows like alpha.
constexpr int max_long_scan_steps = 64;
/// Of few samples (alpha below 1) the best one falls far faster, or there is none: below this the
/// error hardly changes, and its integrals take ever longer.
constexpr double least_best_decay = 1e-6;
/// The same with sampled labels, whose minima take ever longer at small decays: a thousandth of the
/// largest decay is as good as none.
constexpr int max_sampled_scan_steps = 18;
constexpr int max_rises = 4;
constexpr double golden_width = 2e-3;
/// What the coarse rule may have moved the best decay by; mse changes by a ten-thousandth of that.
constexpr double best_decay_precision = 1e-2;

/// A loss that means nothing with these labels is a mistake; one that nobody has worked out is
/// refused.
void check_loss(const AttentionIndexed& model, TrainingLoss loss) {
  const auto reject = [&](const char* why, const char* allowed) {
    throw InvalidArgument("loss", std::string(to_string(loss)) + " with " +
                                      std::string(model.channel->name()) + " labels, " + why +
                                      "; allowed: " + allowed);
  };
  if (model.channel == &linear_channel() && loss != TrainingLoss::square) {
    reject("which are scores and not probabilities", "square");
  }
  if (model.channel != &hardmax_channel() || loss == TrainingLoss::cross_entropy) return;
  if (loss == TrainingLoss::fields) reject("which show no scores", "cross-entropy");
  throw Refused(
      "squared errors of hardmax labels: the minima of single samples have no closed form, and "
      "there is no advantage over cross-entropy; possible is `loss = cross-entropy`");
}

void check_model(const AttentionIndexed& model, TrainingLoss loss) {
  check_loss(model, loss);
  if (model.channel != &linear_channel() && model.noise_variance > 0.0 &&
      model.noise_kind == NoiseKind::equal) {
    throw Refused(
        "noise of the same variance on every score makes the directions of a softmax label "
        "unequal, and training no longer reduces to three numbers; possible: `noise_kind = "
        "scaled`");
  }
  const bool by_samples =
      model.tokens > 2 && model.channel != &linear_channel() && loss != TrainingLoss::fields;
  if (by_samples && model.tokens > max_sampled_tokens) {
    throw Refused("this loss of more than " + std::to_string(max_sampled_tokens) +
                  " tokens needs minima in " +
                  std::to_string(model.tokens * (model.tokens + 1) / 2) +
                  " dimensions for every sampled label; possible: fewer `tokens`, `loss = fields`");
  }
}

std::optional<Estimate> if_finite(const Estimate& x) {
  if (!std::isfinite(x.value)) return std::nullopt;
  return x;
}

/// What grids from coarse to fine found: the finest, with its largest distance from the others.
Estimate finest(const std::vector<double>& all, double rest) {
  double largest = 0.0;
  for (const double x : all) largest = std::max(largest, std::abs(all.back() - x));
  return {all.back(), largest + rest};
}

/// Reduces what the rules found: the finest grid with its distance from the others, or the mean
/// of the replicates with its scatter; in both cases what was left of the iteration besides.
Estimate combined(const FixedPoint& point, bool replicated,
                  const std::function<double(const RuleSolution&)>& value) {
  std::vector<double> all;
  for (const RuleSolution& s : point.solutions) all.push_back(value(s));
  if (replicated) {
    return numerics::reduce(all, point.distance * std::abs(numerics::mean(all)));
  }
  return finest(all, (point.distance + shared_truncation) * std::abs(all.back()));
}

}  // namespace

bool TrainedPoint::too_high() const {
  constexpr double errors = 4.0;   // of both, where they are scatters of replicates
  constexpr double largest = 0.1;  // share of the bound: errors that allow more show nothing
  if (!bound) return false;
  const double allowed = errors * std::hypot(objective.error, bound->error);
  return objective.value - bound->value > std::min(allowed, largest * bound->value);
}

std::string_view to_string(Validity validity) {
  switch (validity) {
    case Validity::exact: return "exact";
    case Validity::stable: return "stable";
    case Validity::approximate: return "approximate";
    case Validity::unreliable: return "unreliable";
    case Validity::zero: break;
  }
  return "zero";
}

Training::Training(const AttentionIndexed& model, TrainingLoss loss, Penalty penalty,
                   std::uint64_t seed)
    : model_(model), loss_(loss), penalty_(penalty) {
  model.validate();
  check_model(model, loss);
  if (model.channel != &linear_channel() && loss != TrainingLoss::fields) {
    output_ = training_output(model, loss, seed);
  }
}

bool Training::convex() const {
  return quadratic() || loss_ == TrainingLoss::cross_entropy;
}

double Training::equations_per_alpha() const {
  const double all = 2.0 * model_.scores();
  return model_.channel == &linear_channel() ? all : all - 2.0;
}

QuadraticProblem Training::quadratic_problem(double alpha) const {
  const double tokens = model_.tokens;
  const bool equal = model_.noise_kind == NoiseKind::equal;
  return {penalty_, model_.rho, alpha * equations_per_alpha(),
          model_.noise_variance * (equal ? tokens / (tokens + 1.0) : 1.0)};
}

/// [aim 90] with its losses; for softmax with a squared loss, the limit of small decays.
TrainedPoint Training::quadratic_point(double alpha, const QuadraticMinimum& minimum) const {
  const QuadraticProblem problem = quadratic_problem(alpha);
  const PenaltyTerm penalty{penalty_, minimum.decay, model_.rho};
  const double q0 = problem.second_moment();
  StudentAtMinimum s;
  if (minimum.exact) {
    s.overlaps = {q0, q0, minimum.chi};
    s.trace = std::sqrt(model_.rho);
    s.penalty = penalty_ == Penalty::ridge ? q0 : s.trace;
    s.rank = std::min(1.0, model_.rho);
  } else {
    s = student_at(penalty, minimum.delta, minimum.threshold, minimum.shrinkage,
                   minimum.conjugate + (penalty_ == Penalty::ridge ? 4.0 * minimum.decay : 0.0));
    s.overlaps.chi = minimum.chi;
  }
  const double precision = closed_precision + wide_noise_precision * minimum.delta;
  const auto closed = [precision](double value) {
    return Estimate{value, precision * std::abs(value)};
  };
  const double directions = equations_per_alpha();  // 2 D
  const double shrink = 1.0 + 4.0 * minimum.chi;
  TrainedPoint p;
  p.alpha = alpha;
  p.decay = closed(minimum.decay);
  p.mse = closed(s.mse);
  const double train = directions * (s.mse + problem.noise) / (shrink * shrink);
  p.train = closed(train);
  if (output_) {  // the interpolator that squared errors of probabilities share
    const auto test = [&](double noise) {
      std::vector<double> all;
      for (std::size_t rule = 1; rule < output_->rules(); ++rule) {
        all.push_back(output_->test(s.overlaps, q0 + noise, rule));
      }
      return output_->replicated() ? numerics::reduce(all, closed_precision)
                                   : finest(all, closed_precision);
    };
    p.test = test(model_.noise_variance);
    p.test_clean = test(0.0);
  } else {
    p.test = closed(directions * (s.mse + problem.noise));
    p.test_clean = closed(directions * s.mse);
  }
  p.objective = closed(alpha * train + minimum.decay * s.penalty);
  p.overlap = closed(s.overlaps.overlap);
  p.norm = closed(s.overlaps.norm);
  if (!minimum.zero) p.cosine = closed(s.overlaps.overlap / std::sqrt(s.overlaps.norm * q0));
  p.trace = closed(s.trace);
  p.penalty = closed(s.penalty);
  p.delta = closed(minimum.delta);
  p.scale = closed(s.scale);
  p.chi = if_finite(closed(minimum.chi));
  if (penalty_ != Penalty::ridge) {
    p.rank = closed(s.rank);
    p.threshold = closed(minimum.threshold);
  }
  if (!minimum.exact && !minimum.zero) {
    const Estimate b = penalty_ == Penalty::ridge
                           ? Estimate{minimum.shrinkage * minimum.shrinkage, 0.0}
                           : squared_difference(penalty_, model_.rho, s.delta, s.threshold);
    p.replicon = Estimate{b.value / problem.equations, b.error / problem.equations};
  }
  p.validity = minimum.zero ? Validity::zero : Validity::exact;
  p.status = {StopReason::converged, 0, 0.0};
  return p;
}

TrainedPoint Training::solved_point(double alpha, double decay, Conjugates& start,
                                    const Context& context) const {
  const PenaltyTerm penalty{penalty_, decay, model_.rho};
  FixedPoint found;
  if (decay >= aim::max_decay(*output_, penalty, alpha, output_->rules() - 1)) {
    for (std::size_t rule = 1; rule < output_->rules(); ++rule) {
      const Conjugates hats = nothing_learned(*output_, alpha, rule);
      found.solutions.push_back({rule, hats, {}, output_->at({}, rule)});
      found.solutions.back().student.delta = hats.norm / (hats.overlap * hats.overlap);
      found.solutions.back().student.threshold = 2.0 * decay / hats.overlap;
      found.solutions.back().student.scale = hats.overlap / hats.chi;
      found.solutions.back().student.mse = 1.0 + model_.rho;
    }
    found.status.reason = StopReason::converged;
  } else {
    found = fixed_point(*output_, penalty, alpha, start, context);
  }
  const auto column = [&](const std::function<double(const RuleSolution&)>& value) {
    return combined(found, output_->replicated(), value);
  };
  const double q0 = 1.0 + model_.rho;
  const bool zero = found.solutions.back().student.zero();
  TrainedPoint p;
  p.alpha = alpha;
  p.decay = {decay, 0.0};
  p.train = column([](const auto& s) { return s.moments.train; });
  p.test = column([&](const auto& s) {
    return output_->test(s.student.overlaps, q0 + model_.noise_variance, s.rule);
  });
  p.test_clean =
      column([&](const auto& s) { return output_->test(s.student.overlaps, q0, s.rule); });
  p.objective =
      column([&](const auto& s) { return alpha * s.moments.train + decay * s.student.penalty; });
  p.overlap = column([](const auto& s) { return s.student.overlaps.overlap; });
  p.norm = column([](const auto& s) { return s.student.overlaps.norm; });
  p.trace = column([](const auto& s) { return s.student.trace; });
  p.penalty = column([](const auto& s) { return s.student.penalty; });
  p.delta = column([](const auto& s) { return s.student.delta; });
  p.scale = column([](const auto& s) { return s.student.scale; });
  p.chi = column([](const auto& s) { return s.student.overlaps.chi; });
  p.bistable = column([](const auto& s) { return s.moments.bistable; });
  if (model_.channel->fixes_length()) p.mse = column([](const auto& s) { return s.student.mse; });
  p.status = found.status;
  p.bound = attainable(alpha, penalty);
  if (!zero) {
    p.cosine = column([&](const auto& s) {
      return s.student.overlaps.overlap / std::sqrt(s.student.overlaps.norm * q0);
    });
  }
  // What is no minimum has no stability.
  if (!zero && !p.too_high()) {
    const StudentAtMinimum& s = found.solutions.back().student;
    const Estimate b = penalty_ == Penalty::ridge
                           ? Estimate{1.0, 0.0}
                           : squared_difference(penalty_, model_.rho, s.delta, s.threshold);
    Estimate replicon = column([&](const auto& r) {
      return 2.0 * alpha * b.value * r.moments.sensitivity /
             (r.student.stiffness * r.student.stiffness);
    });
    replicon.error += replicon.value * b.error / b.value;
    p.replicon = replicon;
  }
  if (penalty_ != Penalty::ridge) {
    p.rank = column([](const auto& s) { return s.student.rank; });
    p.threshold = column([](const auto& s) { return s.student.threshold; });
  }
  p.validity = zero ? Validity::zero : Validity::exact;
  if (!zero && !convex() && p.replicon) judge(p);
  return p;
}

/// Any S is a bound of the minimum; a multiple of the teacher is a good one for large samples, and
/// S = 0 for small ones [aim 110].
Estimate Training::attainable(double alpha, const PenaltyTerm& penalty) const {
  const TeacherMultiple best = best_multiple(*output_, penalty, alpha);
  std::vector<double> all;
  for (std::size_t rule = 1; rule < output_->rules(); ++rule) {
    all.push_back(alpha * output_->multiple_loss(best.zeta, rule) + penalty.decay * best.penalty);
  }
  return output_->replicated() ? numerics::reduce(all)
                               : finest(all, shared_truncation * all.back());
}

/// Where two rules disagree about the replicon by a tenth, jumps make its average meaningless, and
/// it counts as violated [aim 102].
void Training::judge(TrainedPoint& p) const {
  constexpr double agreement = 0.1;
  const bool steady = p.replicon->value + p.replicon->error < 1.0 &&
                      p.replicon->error < agreement * p.replicon->value;
  if (p.bistable.value > many_bistable) {
    p.validity = Validity::unreliable;
  } else if (p.bistable.value + p.bistable.error < few_bistable && steady) {
    p.validity = Validity::stable;
  } else {
    p.validity = Validity::approximate;
  }
}

TrainedPoint Training::without_decay(double alpha, Conjugates& start,
                                     const Context& context) const {
  const QuadraticProblem problem = quadratic_problem(alpha);
  if (!model_.channel->fixes_length()) {
    throw Refused(
        "hardmax labels can be separated at every alpha, by the teacher itself: without decay the "
        "cross-entropy falls for ever while S grows, and has no minimum; possible: a small "
        "`decay`, whose cosine and test error approach those of the largest margin");
  }
  const bool noisy = model_.noise_variance > 0.0;
  const double fits = !noisy                       ? std::numeric_limits<double>::infinity()
                      : penalty_ == Penalty::trace ? trace_interpolation(model_.rho, problem.noise)
                                                   : 1.0;
  if (problem.equations >= fits) return solved_point(alpha, 0.0, start, context);
  TrainedPoint p = quadratic_point(alpha, quadratic_minimum(problem, 0.0));
  if (loss_ == TrainingLoss::cross_entropy) {
    p.train = label_entropy();
    p.objective = {alpha * p.train.value, alpha * p.train.error};
  }
  return p;
}

/// What cross-entropy leaves of a label that is fitted: the risk of a student that is the teacher
/// [aim 64], whose scores have the variance of those behind the labels.
Estimate Training::label_entropy() const {
  FlowModel same;
  same.labels = model_;
  same.labels.noise_variance = 0.0;
  same.labels.rho += model_.noise_variance;
  same.loss = SgdLoss::cross_entropy;
  const double norm = same.teacher_norm();
  if (model_.beta * std::sqrt(norm) > max_steepness(same.loss, model_.tokens)) {
    throw Refused(
        "labels of a softmax so steep are those of hardmax nearly everywhere, and the integral of "
        "their entropy is out of reach; possible: a smaller `beta`, or a small `decay`");
  }
  const auto entropy = [&](Precision precision) {
    return make_risk(same, precision, 1)->drift({.p = norm, .q = norm}).risk;
  };
  const double fine = entropy(Precision::fine);
  return {fine, std::abs(fine - entropy(Precision::coarse)) + closed_precision * fine};
}

TrainedPoint Training::at(double alpha, double decay, Conjugates& start,
                          const Context& context) const {
  if (quadratic()) {
    TrainedPoint p = quadratic_point(alpha, quadratic_minimum(quadratic_problem(alpha), decay));
    p.decay = {decay, 0.0};
    return p;
  }
  if (decay == 0.0) return without_decay(alpha, start, context);
  return solved_point(alpha, decay, start, context);
}

bool Training::few_hardmax_labels(double alpha) const {
  return !model_.channel->fixes_length() && alpha < 1.0;
}

double Training::goal_of(const RuleSolution& s, DecayGoal goal) const {
  const double q0 = 1.0 + model_.rho;
  if (goal == DecayGoal::test) {
    return output_->test(s.student.overlaps, q0 + model_.noise_variance, s.rule);
  }
  return s.student.mse;
}

/// Down from the decay at which nothing is learned, as long as it helps, then a golden section of
/// the logarithm; all by the coarse rule. 0 where the smallest decay is still the best.
double Training::best_decay(double alpha, DecayGoal goal, const Context& context) const {
  Conjugates start{};
  const auto value = [&](double log_decay) {
    const PenaltyTerm penalty{penalty_, std::exp(log_decay), model_.rho};
    const auto s = coarse_fixed_point(*output_, penalty, alpha, start, context);
    return s ? goal_of(*s, goal) : std::numeric_limits<double>::infinity();
  };
  constexpr double ridge_start = 10.0;
  const PenaltyTerm any{penalty_, 0.0, model_.rho};
  const double top =
      penalty_ == Penalty::ridge ? ridge_start * alpha : aim::max_decay(*output_, any, alpha, 0);
  const double step = std::log(scan_ratio);
  double best_log = std::log(top) - step;
  double best = value(best_log);
  int rises = 0;
  double y = best_log;
  const int grid_steps = model_.channel->fixes_length() ? max_scan_steps : max_long_scan_steps;
  const int steps = output_->replicated() ? max_sampled_scan_steps : grid_steps;
  const double least = few_hardmax_labels(alpha) ? least_best_decay : 0.0;
  for (int i = 1; i < steps && rises < max_rises && std::exp(y - step) >= least; ++i) {
    y -= step;
    const double now = value(y);
    rises = now < best ? 0 : rises + 1;
    if (now >= best) continue;
    best = now;
    best_log = y;
  }
  if (rises == 0) return 0.0;
  return std::exp(golden_section(value, best_log - step, best_log + step, golden_width));
}

/// The coarse rule is one sample of a few, and its best decay is partly its own noise. Three decays
/// around it, solved by all replicates, give every replicate a slope, and all of them a curvature:
/// the parabola's minimum is the best decay, with a scatter that is its error.
Estimate Training::sampled_best_decay(double alpha, double coarse, DecayGoal goal,
                                      const Context& context) const {
  constexpr double step = 0.2;  // of the logarithm; the cubic term moves the minimum by its square
  constexpr int max_moves = 8;
  Conjugates start{};
  const auto values = [&](double log_decay) {
    const PenaltyTerm penalty{penalty_, std::exp(log_decay), model_.rho};
    const FixedPoint point = fixed_point(*output_, penalty, alpha, start, context);
    std::vector<double> out;
    for (const RuleSolution& s : point.solutions) out.push_back(goal_of(s, goal));
    return out;
  };
  double centre = std::log(coarse);
  std::vector<double> below = values(centre - step);
  std::vector<double> here = values(centre);
  std::vector<double> above = values(centre + step);
  for (int move = 0; move < max_moves; ++move) {
    const double curvature =
        numerics::mean(below) - 2.0 * numerics::mean(here) + numerics::mean(above);
    std::vector<double> shifts;
    for (std::size_t r = 0; r < here.size(); ++r) {
      shifts.push_back(0.5 * step * (below[r] - above[r]) / curvature);
    }
    const Estimate shift = numerics::reduce(shifts);
    if (curvature > 0.0 && std::abs(shift.value) <= step) {
      const double decay = std::exp(centre + shift.value);
      return {decay, decay * (shift.error + best_decay_precision)};
    }
    if (numerics::mean(above) < numerics::mean(below)) {
      centre += step;
      below = std::exchange(here, std::move(above));
      above = values(centre + step);
    } else {
      centre -= step;
      above = std::exchange(here, std::move(below));
      below = values(centre - step);
    }
  }
  throw Refused(
      "sampling noise hides which decay is the best, since they all do nearly as well; possible: a "
      "grid of `decay`");
}

/// The coarse rule does not resolve the decays that are best for many hardmax labels, and may end
/// its search anywhere: the fine rules must find no smaller error at a smaller decay.
void Training::check_best(const TrainedPoint& p, Conjugates start, const Context& context) const {
  constexpr double smaller = 1.0 / 3.0;
  const TrainedPoint other = at(p.alpha, smaller * p.decay.value, start, context);
  if (p.too_high() || other.too_high()) return;
  if (p.test.value - other.test.value <= p.test.error + other.test.error) return;
  throw Refused(fmt::format(
      "the error still falls below a decay of {:.3g}, where the search ended: the coarse rule that "
      "it uses does not resolve so small ones; possible: a grid of `decay`, or a {} `alpha`",
      p.decay.value, p.alpha < 1.0 ? "larger" : "smaller"));
}

TrainedPoint Training::best(double alpha, DecayGoal goal, const Context& context) const {
  if (quadratic()) {
    return quadratic_point(alpha, best_quadratic_minimum(quadratic_problem(alpha)));
  }
  if (goal == DecayGoal::mse && !model_.channel->fixes_length()) {
    throw InvalidArgument("optimise",
                          "mse with hardmax labels, which do not fix the length of S; allowed: "
                          "test");
  }
  const double coarse = best_decay(alpha, goal, context);
  Conjugates start{};
  if (coarse == 0.0 && few_hardmax_labels(alpha)) {
    throw Refused(fmt::format(
        "the error still falls at a decay of {:.3g}, where the search for the best one ends: of so "
        "few hardmax labels ever smaller decays learn a little more; possible: a grid of `decay`, "
        "or a larger `alpha`",
        least_best_decay));
  }
  if (coarse == 0.0) return at(alpha, 0.0, start, context);
  const Estimate decay = output_->replicated() ? sampled_best_decay(alpha, coarse, goal, context)
                                               : Estimate{coarse, best_decay_precision * coarse};
  TrainedPoint p = at(alpha, decay.value, start, context);
  p.decay = decay;
  if (!model_.channel->fixes_length() && !output_->replicated()) {
    check_best(p, start, context);
  }
  return p;
}

Estimate Training::max_decay(double alpha) const {
  if (quadratic()) {
    const double value = quadratic_max_decay(quadratic_problem(alpha));
    return {value, closed_precision * value};
  }
  const PenaltyTerm penalty{penalty_, 0.0, model_.rho};
  std::vector<double> all;
  for (std::size_t rule = 1; rule < output_->rules(); ++rule) {
    all.push_back(aim::max_decay(*output_, penalty, alpha, rule));
  }
  if (output_->replicated()) return numerics::reduce(all);
  return finest(all, closed_precision * all.back());
}

}  // namespace onset::aim
