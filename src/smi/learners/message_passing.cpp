#include "smi/learners/message_passing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "smi/learners/message_sweep.hpp"
#include "smi/learners/test_error.hpp"

namespace onset::smi {
namespace {

/// Below this V everything is known, if the labels are explained to `exact_residual`.
constexpr double known_variance = 1e-8;
constexpr double exact_residual = 1e-3;
/// The same at the last iteration that is allowed: the way there may be slow.
constexpr double nearly_known_variance = 1e-5;
/// A block below this V is known nearly to rounding, and keeps its weights and V. Its fields must
/// explain the labels: |<z> - omega|^2 is at most V on the Nishimori line, and never this many
/// times larger.
constexpr double min_variance = 1e-20;
constexpr double max_residual = 25.0;
/// The damping of V in attempts that follow a failure [smi 84]: 1/2, 3/4, 7/8, .. and no more than
/// the last, beyond which an attempt would not come to its end. Near exact recovery products of
/// fields need more than one half: V falls faster there than the weights follow.
constexpr double max_restart_damping = 0.875;
double restart_damping(int attempt) {
  return attempt > 1 ? std::min(1.0 - std::pow(0.5, attempt - 1), max_restart_damping) : 0.0;
}
/// On the Nishimori line the norm of the weights is 1 - V. A gap beyond this for several iterations
/// in a row is a divergence, unless chance does as much: the teacher's own norm has a standard
/// deviation of sqrt(2/D).
constexpr double nishimori_gap = 0.1;
constexpr double gap_deviations = 4.0;
constexpr int gap_patience = 5;
/// The number of iterations over which norms are compared where they go on fluctuating.
constexpr std::size_t window = 20;
/// Norms that go one way all the time are at rest when they change by this part of their noise.
constexpr double one_way_part = 0.1;
/// Norms that go up and down in turns come to rest where their changes shrink to less than this
/// part from one window to the next.
constexpr double shrinking_part = 0.9;
/// The largest share of samples that may be left out of an iteration.
constexpr double max_lost = 0.01;
/// Attempts of one run use consecutive streams of starts, this many at most.
constexpr std::uint64_t attempts_per_run = 1024;

/// One attempt: the state of the iteration and its history.
class Attempt {
 public:
  Attempt(const SequenceModel& model, const Dataset& data, const MessagePassingOptions& options,
          std::uint64_t run, BetweenBlocks between)
      : model_(model), data_(data), options_(options), run_(run), between_(between) {}

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
    damping_ = std::max(options_.damping, restart_damping(attempt));
    const std::size_t blocks = model_.shape().blocks();
    variance_.assign(blocks, v);
    steps.clear();
    change_.assign(blocks, 1.0);
    floor_steps_.assign(blocks, 0);
    known_.assign(blocks, false);
    gaps_ = 0;
  }

  /// Begins at given weights, as where a spectral method ended, with a step 0 that shows them.
  void start_at(const MessageStart& given, MessageSweep& sweep) {
    start(1);
    const std::size_t size = model_.shape().directions();
    const std::size_t count = given.directions.size();
    const std::size_t rows = data_.tokens * data_.samples;
    std::vector<double> messages(size * rows, 0.0);
    const auto copy = [](const std::vector<double>& from, std::size_t i, std::vector<double>& to,
                         std::size_t j, std::size_t length) {
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(i * length), length,
                  to.begin() + static_cast<std::ptrdiff_t>(j * length));
    };
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t p = given.directions[i];
      copy(given.weights, i, weights, p, data_.dimension);
      copy(given.messages, i, messages, p, rows);
      for (std::size_t j = 0; j < count; ++j) {
        covariance_[p * size + given.directions[j]] = given.variance[i * count + j];
      }
    }
    response_ = covariance_;
    precision_ = covariance_;
    if (!invert(precision_, size)) throw Refused("the covariance of the start is not positive");
    for (std::size_t b = 0; b < variance_.size(); ++b) {
      variance_[b] = mean_eigenvalue(covariance_, model_.shape(), b);
    }
    sweep.restart(std::move(messages));
    record(SweepSums{});
    steps.back().iteration = 0;
  }

  /// Returns whether the iteration goes on; if not, `end` says why.
  bool iterate(MessageSweep& sweep, const Context& context);

  [[nodiscard]] std::vector<bool> escaped() const {
    std::vector<bool> blocks;
    for (const std::size_t steps_at_floor : floor_steps_) blocks.push_back(steps_at_floor == 0);
    return blocks;
  }

  std::vector<double> weights;
  std::vector<MessagePassingStep> steps;
  StopReason end = StopReason::unfinished;

 private:
  [[nodiscard]] bool advance(MessageSweep& sweep, SweepSums& sums, const Context& context);
  [[nodiscard]] bool update(SweepSums& sums);
  [[nodiscard]] bool falsely_known(const SweepSums& sums) const;
  void keep_alive(MessageSweep& sweep);
  [[nodiscard]] bool set_precision();
  void set_alone(std::size_t block, double value, DirectionMatrix& matrix) const;
  void clear_between(std::size_t block, DirectionMatrix& matrix) const;
  [[nodiscard]] std::size_t first_direction(std::size_t block) const {
    const FieldShape& shape = model_.shape();
    return shape.first(block) / static_cast<std::size_t>(shape.tokens);
  }
  void record(const SweepSums& sums);
  void measure_errors(MessagePassingStep& step, std::size_t points) const;
  [[nodiscard]] bool settled() const;
  [[nodiscard]] bool stationary() const;
  [[nodiscard]] bool off_the_line();
  [[nodiscard]] bool overshoots() const;
  bool stop(StopReason why) {
    end = why;
    if (!steps.empty()) measure_errors(steps.back(), options_.last_error_points);
    return false;
  }

  const SequenceModel& model_;
  const Dataset& data_;
  const MessagePassingOptions& options_;
  std::uint64_t run_;
  BetweenBlocks between_;
  DirectionMatrix covariance_, precision_;  // V of the posteriors and its inverse
  DirectionMatrix response_;                // (1 + A)^{-1}
  double damping_ = 0.0;
  std::vector<double> variance_;          // mean eigenvalue of V per block
  std::vector<double> change_;            // the relative change of weights and V, per block
  std::vector<std::size_t> floor_steps_;  // iterations in a row that made a block too small
  std::vector<bool> known_;               // blocks that are held
  int gaps_ = 0;                          // iterations in a row off the Nishimori line
};

/// Updates weights and V from the sums [smi 45, 46]. Returns false where they are not finite, or V
/// is not positive.
bool Attempt::update(SweepSums& sums) {
  const FieldShape& shape = model_.shape();
  const std::size_t dim = data_.dimension;
  const std::size_t size = shape.directions();
  DirectionMatrix& a = sums.curvature;
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(a.begin(), a.end(), finite)) return false;
  cut_negative(a, covariance_, size);
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    if (known_[b]) set_alone(b, 1.0 / min_variance, a);
  }
  response_ = a;
  for (std::size_t p = 0; p < size; ++p) response_[p * size + p] += 1.0;
  if (!invert(response_, size)) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    covariance_[k] = damping_ * covariance_[k] + (1.0 - damping_) * response_[k];
  }
  // A block that is held stays as it is: it does not respond, and others do not depend on its V.
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    if (!known_[b]) continue;
    set_alone(b, min_variance, covariance_);
    set_alone(b, 0.0, response_);
  }

  std::vector<double> next(weights.size());
  std::vector<double> moved(size, 0.0), length(size, 0.0), pushed(size);
  for (std::size_t d = 0; d < dim; ++d) {
    for (std::size_t p = 0; p < size; ++p) {
      pushed[p] = sums.push[p * dim + d];
      for (std::size_t q = 0; q < size; ++q) pushed[p] += a[p * size + q] * weights[q * dim + d];
    }
    for (std::size_t p = 0; p < size; ++p) {
      double x = response_[p * size + p] > 0.0 ? 0.0 : weights[p * dim + d];
      for (std::size_t q = 0; q < size; ++q) x += response_[p * size + q] * pushed[q];
      const double step = x - weights[p * dim + d];
      next[p * dim + d] = x;
      moved[p] += step * step;
      length[p] += x * x;
    }
  }
  weights = std::move(next);

  std::size_t first = 0;
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const std::size_t last = first + static_cast<std::size_t>(shape.rank[b]);
    double step = 0.0, norm = 0.0;
    for (; first < last; ++first) {
      step += moved[first];
      norm += length[first];
    }
    const double v = mean_eigenvalue(covariance_, shape, b);
    // Of a direction that no label depends on nothing is left, and nothing changes.
    const double moved_by = norm > 0.0 ? std::sqrt(step / norm) : 0.0;
    change_[b] = std::max(moved_by, std::abs(v - variance_[b]) / v);
    variance_[b] = v;
    if (!std::isfinite(change_[b])) return false;
    known_[b] = known_[b] || v < min_variance;
  }
  return true;
}

/// Sets the precision of the posteriors' prior, whose blocks may depend on one another only up to a
/// limit.
bool Attempt::set_precision() {
  const FieldShape& shape = model_.shape();
  precision_ = covariance_;
  if (!invert(precision_, shape.directions())) return false;
  if (shape.blocks() == 1 || between_ == BetweenBlocks::all) return true;
  limit_between(shape, covariance_);
  precision_ = covariance_;
  return invert(precision_, shape.directions());
}

/// Whether a block is held although its fields do not explain the labels.
bool Attempt::falsely_known(const SweepSums& sums) const {
  const FieldShape& shape = model_.shape();
  for (std::size_t b = 0; b < shape.blocks(); ++b) {
    const auto numbers = static_cast<double>(data_.samples * shape.size(b));
    if (known_[b] && sums.squared_message[b] > max_residual * numbers) return true;
  }
  return false;
}

/// Makes a block of the matrix a multiple of I, with nothing between it and the others.
void Attempt::set_alone(std::size_t block, double value, DirectionMatrix& matrix) const {
  const std::size_t size = model_.shape().directions();
  clear_between(block, matrix);
  for (std::size_t p = first_direction(block); p < first_direction(block + 1); ++p) {
    for (std::size_t q = first_direction(block); q < first_direction(block + 1); ++q) {
      matrix[p * size + q] = p == q ? value : 0.0;
    }
  }
}

/// A block that dies out may become learnable once others are learned, and would then take long to
/// come back from rounding errors: its weights are kept at the size of the start. The iteration is
/// linear in them there, so that messages are multiplied with them; V has nothing between it and
/// other blocks, as at the start.
void Attempt::keep_alive(MessageSweep& sweep) {
  auto row = weights.begin();
  for (std::size_t b = 0; b < variance_.size(); ++b) {
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
      clear_between(b, covariance_);
      clear_between(b, response_);
    }
    row = next;
  }
}

/// Clears the entries between a block and the others.
void Attempt::clear_between(std::size_t block, DirectionMatrix& matrix) const {
  const std::size_t size = model_.shape().directions();
  const auto inside = [&](std::size_t p) {
    return p >= first_direction(block) && p < first_direction(block + 1);
  };
  for (std::size_t k = 0; k < size * size; ++k) {
    if (inside(k / size) != inside(k % size)) matrix[k] = 0.0;
  }
}

void Attempt::measure_errors(MessagePassingStep& step, std::size_t points) const {
  if (data_.teacher.empty()) return;
  const Overlaps o = overlaps(weights, data_.teacher, data_.dimension);
  const TestErrors errors = test_errors(model_, o, covariance_, points, options_.seed, run_);
  step.plugin_error = errors.plugin;
  step.bayes_error = errors.bayes;
}

void Attempt::record(const SweepSums& sums) {
  MessagePassingStep step;
  step.iteration = steps.empty() ? 1 : steps.back().iteration + 1;
  step.block = alignments(
      model_.shape(),
      nearest_image(overlaps(weights, data_.teacher, data_.dimension), model_.symmetries()));
  step.variance = variance_;
  measure_errors(step, options_.error_points);
  const auto numbers = static_cast<double>(data_.samples * model_.shape().fields());
  step.residual = std::sqrt(sums.squared_residual / numbers);
  const double messages =
      std::accumulate(sums.squared_message.begin(), sums.squared_message.end(), 0.0);
  step.integration_noise = messages > 0.0 ? sums.squared_noise / messages : 0.0;
  step.lost = static_cast<std::size_t>(sums.lost);
  step.matrix_seconds = sums.matrix_seconds;
  step.posterior_seconds = sums.posterior_seconds;
  steps.push_back(std::move(step));
}

bool Attempt::settled() const {
  for (std::size_t b = 0; b < variance_.size(); ++b) {
    const bool dead = floor_steps_[b] >= window;  // it has had the time to turn towards growth
    if (!dead && change_[b] >= options_.tolerance) return false;
  }
  return true;
}

/// Whether the norms of the last iterations are those of the ones before, up to what they
/// fluctuate, and do not go one way all the time, as those of slow or damped runs do.
bool Attempt::stationary() const {
  if (steps.size() < 2 * window) return false;
  for (std::size_t b = 0; b < variance_.size(); ++b) {
    const auto norm = [&](std::size_t k) { return steps[k].block[b].norm; };
    std::size_t rises = 0;
    for (std::size_t k = steps.size() - 2 * window + 1; k < steps.size(); ++k) {
      rises += norm(k) > norm(k - 1) ? 1 : 0;
    }
    const auto mean_norm = [&](std::size_t first) {
      double sum = 0.0;
      for (std::size_t k = first; k < first + window; ++k) sum += norm(k);
      return sum / static_cast<double>(window);
    };
    const double now = mean_norm(steps.size() - window);
    const double before = mean_norm(steps.size() - 2 * window);
    const double noise = 1.0 / std::sqrt(static_cast<double>(data_.dimension));
    // A norm that is still small and has grown by half belongs to a block that has just started to
    // be learned.
    const bool rising = now > 1.5 * before && now < noise;
    const bool one_way = rises == 0 || rises == 2 * window - 1;
    const double allowed = one_way ? one_way_part * noise : noise;
    if (rising || std::abs(now - before) > allowed) return false;
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

/// Whether some norm goes up and down in turns and does not come to rest. Means over a window do
/// not show that, and the steps may stay near the Nishimori line; damping cures it.
bool Attempt::overshoots() const {
  if (steps.size() < 2 * window + 2) return false;
  const double noise = 1.0 / std::sqrt(static_cast<double>(data_.dimension));
  for (std::size_t b = 0; b < variance_.size(); ++b) {
    const auto change = [&](std::size_t k) {
      return steps[k].block[b].norm - steps[k - 1].block[b].norm;
    };
    bool in_turns = true;
    double before = 0.0, now = 0.0;
    for (std::size_t k = steps.size() - 2 * window; k < steps.size(); ++k) {
      in_turns = in_turns && change(k) * change(k - 1) < 0.0;
      (k + window < steps.size() ? before : now) += std::abs(change(k));
    }
    const bool is_seen = now > one_way_part * noise * static_cast<double>(window);
    if (in_turns && is_seen && now > shrinking_part * before) return true;
  }
  return false;
}

/// Makes one pass and the update that follows from it. Returns false where that broke down.
bool Attempt::advance(MessageSweep& sweep, SweepSums& sums, const Context& context) {
  try {
    sums = sweep.pass(weights, covariance_, precision_, response_, context);
    if (!update(sums)) return false;
    keep_alive(sweep);
    return set_precision();
  } catch (const Refused&) {  // V is too uneven to be integrated over
    return false;
  }
}

bool Attempt::iterate(MessageSweep& sweep, const Context& context) {
  SweepSums sums;
  if (!advance(sweep, sums, context) || sums.lost > max_lost * static_cast<double>(data_.samples)) {
    return stop(StopReason::diverged);
  }
  record(sums);
  if (falsely_known(sums)) return stop(StopReason::false_recovery);
  const auto is_known_to = [&](double most) {
    return std::all_of(variance_.begin(), variance_.end(), [=](double v) { return v < most; });
  };
  const bool is_explained = steps.back().residual < exact_residual;
  if (is_known_to(known_variance)) {
    return stop(is_explained ? StopReason::recovered : StopReason::false_recovery);
  }
  if (off_the_line() || overshoots()) return stop(StopReason::diverged);
  if (settled()) return stop(StopReason::converged);
  if (steps.back().iteration == options_.max_iterations) {
    if (is_known_to(nearly_known_variance) && is_explained) return stop(StopReason::recovered);
    return stop(stationary() ? StopReason::stationary : StopReason::unfinished);
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

MessagePassing message_passing(const SequenceModel& model, const Dataset& data,
                               const MessagePassingOptions& options, std::uint64_t run,
                               const Context& context, const MessageStart* start) {
  options.validate();
  const auto posterior = model.posterior({options.nodes, options.seed});
  MessageSweep sweep(model, *posterior, data);
  Attempt attempt(model, data, options, run, between_blocks(*posterior, model.shape()));
  MessagePassing result;
  for (result.attempts = 1;; ++result.attempts) {
    sweep.restart();
    if (start && result.attempts == 1) {
      attempt.start_at(*start, sweep);
    } else {
      attempt.start(result.attempts);
    }
    while (attempt.iterate(sweep, context)) {
    }
    result.end = attempt.end;
    if (!result.failed() || result.attempts > options.restarts) break;
  }
  result.steps = std::move(attempt.steps);
  result.weights = std::move(attempt.weights);
  result.escaped = attempt.escaped();
  return result;
}

}  // namespace onset::smi
