#include "onset/smi/learners/message_passing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "onset/core/error.hpp"
#include "onset/numerics/random.hpp"
#include "onset/smi/learners/test_error.hpp"
#include "smi/learners/message_sweep.hpp"

namespace onset::smi {
namespace {

/// Below this V everything is known, if the labels are explained to `exact_residual`.
constexpr double known_variance = 1e-8;
constexpr double exact_residual = 1e-3;
/// Of V, in attempts that follow a failure [smi 84].
constexpr double restart_damping = 0.5;
/// On the Nishimori line the norm of the weights is 1 - V. A gap beyond this for several iterations
/// in a row is a divergence, unless chance does as much: the teacher's own norm has a standard
/// deviation of sqrt(2/D).
constexpr double nishimori_gap = 0.1;
constexpr double gap_deviations = 4.0;
constexpr int gap_patience = 5;
/// Iterations over which norms are compared where they go on fluctuating.
constexpr std::size_t window = 20;
/// Most samples that may be left out of an iteration.
constexpr double most_lost = 0.01;
/// Streams of starts: attempts of one run follow one another.
constexpr std::uint64_t attempts_per_run = 1024;

/// A >= 0 in the Bayes-optimal setting, so negative eigenvalues are cut [smi 45].
double not_negative(double eigenvalue) {
  return std::max(eigenvalue, 0.0);
}
double inverse(double eigenvalue) {
  return 1.0 / eigenvalue;
}

/// One attempt: the state of the iteration and its history.
class Attempt {
 public:
  Attempt(const SequenceModel& model, const Dataset& data, const MessagePassingOptions& options,
          std::uint64_t run)
      : model_(model), data_(data), options_(options), run_(run) {}

  void start(int attempt) {
    weights.resize(model_.shape().directions() * data_.dimension);
    numerics::Stream stream(options_.seed, "smi message passing start",
                            run_ * attempts_per_run + static_cast<std::uint64_t>(attempt));
    stream.normal(weights);
    for (double& w : weights) w *= options_.start;
    const double v = 1.0 - options_.start * options_.start;
    covariance_ = isotropic(model_.shape(), v);
    response_ = covariance_;
    precision_ = isotropic(model_.shape(), 1.0 / v);
    damping_ = attempt > 1 ? std::max(options_.damping, restart_damping) : options_.damping;
    variance_.assign(covariance_.size(), v);
    steps.clear();
    change_.assign(covariance_.size(), 1.0);
    floor_steps_.assign(covariance_.size(), 0);
    gaps_ = 0;
  }

  /// Whether the iteration goes on; else `end` says why not.
  bool iterate(MessageSweep& sweep, const Context& context);

  std::vector<double> weights;
  std::vector<MessagePassingStep> steps;
  MessagePassingEnd end = MessagePassingEnd::unfinished;

 private:
  void update(SweepSums& sums);
  void keep_alive(MessageSweep& sweep);
  void record(const SweepSums& sums);
  void measure_errors(MessagePassingStep& step, std::size_t points) const;
  [[nodiscard]] bool settled() const;
  [[nodiscard]] bool stationary() const;
  [[nodiscard]] bool off_the_line();
  bool stop(MessagePassingEnd why) {
    end = why;
    if (!steps.empty()) measure_errors(steps.back(), options_.last_error_points);
    return false;
  }

  const SequenceModel& model_;
  const Dataset& data_;
  const MessagePassingOptions& options_;
  std::uint64_t run_;
  BlockMatrices covariance_, precision_;  // V_b of the posteriors and its inverse
  BlockMatrices response_;                // (1 + A_b)^{-1}
  double damping_ = 0.0;
  std::vector<double> variance_;          // their mean eigenvalues
  std::vector<double> change_;            // relative, of weights and V, per block
  std::vector<std::size_t> floor_steps_;  // iterations in a row that made a block too small
  int gaps_ = 0;                          // iterations in a row off the Nishimori line
};

/// Weights and V from the sums [smi 45, 46].
void Attempt::update(SweepSums& sums) {
  const std::size_t dim = data_.dimension;
  std::vector<double> next(weights.size());
  std::size_t first = 0;
  for (std::size_t b = 0; b < covariance_.size(); ++b) {
    const auto rank = static_cast<std::size_t>(model_.shape().rank[b]);
    std::vector<double>& a = sums.curvature[b];
    map_eigenvalues(a, rank, not_negative);
    response_[b] = a;
    for (std::size_t p = 0; p < rank; ++p) response_[b][p * rank + p] += 1.0;
    map_eigenvalues(response_[b], rank, inverse);
    for (std::size_t k = 0; k < a.size(); ++k) {
      covariance_[b][k] = damping_ * covariance_[b][k] + (1.0 - damping_) * response_[b][k];
    }
    precision_[b] = covariance_[b];
    map_eigenvalues(precision_[b], rank, inverse);
    double moved = 0.0;
    double size = 0.0;
    std::vector<double> pushed(rank);
    for (std::size_t d = 0; d < dim; ++d) {
      for (std::size_t p = 0; p < rank; ++p) {
        pushed[p] = sums.push[(first + p) * dim + d];
        for (std::size_t q = 0; q < rank; ++q) {
          pushed[p] += a[p * rank + q] * weights[(first + q) * dim + d];
        }
      }
      for (std::size_t p = 0; p < rank; ++p) {
        double x = 0.0;
        for (std::size_t q = 0; q < rank; ++q) x += response_[b][p * rank + q] * pushed[q];
        const double step = x - weights[(first + p) * dim + d];
        next[(first + p) * dim + d] = x;
        moved += step * step;
        size += x * x;
      }
    }
    const double v = trace(covariance_[b], rank) / static_cast<double>(rank);
    change_[b] = std::max(std::sqrt(moved / size), std::abs(v - variance_[b]) / v);
    variance_[b] = v;
    first += rank;
  }
  weights = std::move(next);
}

/// A block that dies out may become learnable once others are learned, and would then take long to
/// come back from rounding errors: its weights are kept at the size of the start. The iteration is
/// linear in them there, so that messages are multiplied with them.
void Attempt::keep_alive(MessageSweep& sweep) {
  auto row = weights.begin();
  for (std::size_t b = 0; b < covariance_.size(); ++b) {
    const auto size = static_cast<std::ptrdiff_t>(model_.shape().rank[b]) *
                      static_cast<std::ptrdiff_t>(data_.dimension);
    const auto next = row + size;
    const double norm =
        std::sqrt(std::inner_product(row, next, row, 0.0) / static_cast<double>(size));
    const bool dying = norm > 0.0 && norm < options_.start;
    floor_steps_[b] = dying ? floor_steps_[b] + 1 : 0;
    if (dying) {
      const double factor = options_.start / norm;
      std::for_each(row, next, [factor](double& w) { w *= factor; });
      sweep.scale(b, factor);
    }
    row = next;
  }
}

void Attempt::measure_errors(MessagePassingStep& step, std::size_t points) const {
  if (data_.teacher.empty()) return;
  const Overlaps o = overlaps(weights, data_.teacher, data_.dimension);
  const TestErrors errors = test_errors(model_, o, step.variance, points, options_.seed, run_);
  step.plugin_error = errors.plugin;
  step.bayes_error = errors.bayes;
}

void Attempt::record(const SweepSums& sums) {
  MessagePassingStep step;
  step.iteration = steps.empty() ? 1 : steps.back().iteration + 1;
  step.block = alignments(model_.shape(), overlaps(weights, data_.teacher, data_.dimension));
  step.variance = variance_;
  measure_errors(step, options_.error_points);
  const auto numbers = static_cast<double>(data_.samples * model_.shape().fields());
  step.residual = std::sqrt(sums.squared_residual / numbers);
  step.integration_noise =
      sums.squared_message > 0.0 ? sums.squared_noise / sums.squared_message : 0.0;
  step.lost = static_cast<std::size_t>(sums.lost);
  step.matrix_seconds = sums.matrix_seconds;
  step.posterior_seconds = sums.posterior_seconds;
  steps.push_back(std::move(step));
}

bool Attempt::settled() const {
  for (std::size_t b = 0; b < variance_.size(); ++b) {
    const bool dead = floor_steps_[b] >= window;  // long enough to turn where it could grow
    if (!dead && change_[b] >= options_.tolerance) return false;
  }
  return true;
}

/// Whether the norms of the last iterations are those of the ones before, up to what they
/// fluctuate.
bool Attempt::stationary() const {
  if (steps.size() < 2 * window) return false;
  for (std::size_t b = 0; b < variance_.size(); ++b) {
    const auto mean_norm = [&](std::size_t first) {
      double sum = 0.0;
      for (std::size_t k = first; k < first + window; ++k) sum += steps[k].block[b].norm;
      return sum / static_cast<double>(window);
    };
    const double now = mean_norm(steps.size() - window);
    const double before = mean_norm(steps.size() - 2 * window);
    const double noise = 1.0 / std::sqrt(static_cast<double>(data_.dimension));
    // What is still small and has grown by half has just started to be learned.
    const bool rising = now > 1.5 * before && now < noise;
    if (rising || std::abs(now - before) > noise) return false;
  }
  return true;
}

bool Attempt::off_the_line() {
  const double allowed = std::max(
      nishimori_gap, gap_deviations * std::sqrt(2.0 / static_cast<double>(data_.dimension)));
  bool off = false;
  for (std::size_t b = 0; b < variance_.size(); ++b) {
    off = off || !(std::abs(steps.back().block[b].norm - (1.0 - variance_[b])) < allowed);
  }
  gaps_ = off ? gaps_ + 1 : 0;
  return gaps_ >= gap_patience;
}

bool Attempt::iterate(MessageSweep& sweep, const Context& context) {
  SweepSums sums = sweep.pass(weights, covariance_, precision_, response_, context);
  update(sums);
  const bool finite =
      std::all_of(change_.begin(), change_.end(), [](double x) { return std::isfinite(x); });
  if (!finite || sums.lost > most_lost * static_cast<double>(data_.samples)) {
    return stop(MessagePassingEnd::diverged);
  }
  keep_alive(sweep);
  record(sums);
  const bool known =
      std::all_of(variance_.begin(), variance_.end(), [](double v) { return v < known_variance; });
  if (known) {
    const bool exact = steps.back().residual < exact_residual;
    return stop(exact ? MessagePassingEnd::recovered : MessagePassingEnd::false_recovery);
  }
  if (off_the_line()) return stop(MessagePassingEnd::diverged);
  if (settled()) return stop(MessagePassingEnd::converged);
  if (steps.back().iteration == options_.max_iterations) {
    return stop(stationary() ? MessagePassingEnd::stationary : MessagePassingEnd::unfinished);
  }
  return true;
}

}  // namespace

void MessagePassingOptions::validate() const {
  const auto check = [](bool good, const char* field, const char* allowed) {
    if (!good) throw InvalidArgument(field, std::string("is not allowed; allowed: ") + allowed);
  };
  check(max_iterations >= 1, "max_iterations", "1 or more");
  check(start > 0.0 && start < 1.0, "start", "a number in (0, 1)");
  check(damping >= 0.0 && damping < 1.0, "damping", "a number in [0, 1)");
  check(tolerance > 0.0, "tolerance", "a positive number");
  check(restarts >= 0 && restarts < static_cast<int>(attempts_per_run), "restarts", "0 to 1023");
  check(error_points >= 1 && last_error_points >= 1, "error_points", "1 or more");
}

std::string_view to_string(MessagePassingEnd end) {
  switch (end) {
    case MessagePassingEnd::converged: return "converged";
    case MessagePassingEnd::stationary: return "stationary";
    case MessagePassingEnd::recovered: return "recovered";
    case MessagePassingEnd::unfinished: return "unfinished";
    case MessagePassingEnd::diverged: return "diverged";
    case MessagePassingEnd::false_recovery: return "false recovery";
  }
  return "";
}

MessagePassing message_passing(const SequenceModel& model, const Dataset& data,
                               const MessagePassingOptions& options, std::uint64_t run,
                               const Context& context) {
  options.validate();
  const auto posterior = model.posterior({options.nodes, options.seed});
  MessageSweep sweep(model, *posterior, data);
  Attempt attempt(model, data, options, run);
  MessagePassing result;
  for (result.attempts = 1;; ++result.attempts) {
    sweep.restart();
    attempt.start(result.attempts);
    while (attempt.iterate(sweep, context)) {
    }
    result.end = attempt.end;
    if (!result.failed() || result.attempts > options.restarts) break;
  }
  result.steps = std::move(attempt.steps);
  result.weights = std::move(attempt.weights);
  return result;
}

}  // namespace onset::smi
