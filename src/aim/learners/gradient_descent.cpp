#include "aim/learners/gradient_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "aim/learners/label_test.hpp"
#include "aim/model/channel.hpp"
#include "aim/model/token_products.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random/stream.hpp"
#include "numerics/simd/clones.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

/// Adam with its usual constants.
struct AdamRule {
  static constexpr double decay1 = 0.9;
  static constexpr double decay2 = 0.999;
  static constexpr double floor = 1e-8;
  double rate;
  double weight1, weight2;  ///< what the two averages hold of all gradients so far
};

ONSET_CLONES void adam_step(const AdamRule& rule, std::size_t count,
                            const double* __restrict gradient, double* __restrict mean,
                            double* __restrict square, double* __restrict x) {
  for (std::size_t i = 0; i < count; ++i) {
    mean[i] = rule.decay1 * mean[i] + (1.0 - rule.decay1) * gradient[i];
    square[i] = rule.decay2 * square[i] + (1.0 - rule.decay2) * gradient[i] * gradient[i];
    x[i] -=
        rule.rate * (mean[i] / rule.weight1) / (std::sqrt(square[i] / rule.weight2) + rule.floor);
  }
}

class Adam {
 public:
  explicit Adam(std::size_t size) : mean_(size), square_(size) {}
  void step(double rate, const std::vector<double>& gradient, std::vector<double>& x,
            const Context& context) {
    power1_ *= AdamRule::decay1;
    power2_ *= AdamRule::decay2;
    const AdamRule rule{rate, 1.0 - power1_, 1.0 - power2_};
    constexpr std::size_t weights_per_task = 8192;
    numerics::parallel_for(
        context, (x.size() + weights_per_task - 1) / weights_per_task, [&](std::size_t task) {
          const std::size_t begin = task * weights_per_task;
          adam_step(rule, std::min(weights_per_task, x.size() - begin), gradient.data() + begin,
                    mean_.data() + begin, square_.data() + begin, x.data() + begin);
        });
  }

 private:
  std::vector<double> mean_;
  std::vector<double> square_;
  double power1_ = 1.0;
  double power2_ = 1.0;
};

double rate_at(const DescentOptions& options, int step) {
  if (options.schedule == RateSchedule::constant) return options.rate;
  return 0.5 * options.rate * (1.0 + std::cos(std::numbers::pi * step / options.steps));
}

/// Judges a descent by its losses, from the first to the one after the last step.
Status end_of(const std::vector<double>& losses) {
  constexpr double small = 1e-3;    // relative to the first loss
  constexpr double plateau = 1e-2;  // relative change from one window to the next
  const double ratio = losses.back() / losses.front();
  const std::size_t steps = losses.size() - 1;
  Status status{StopReason::unfinished, static_cast<int>(steps), ratio};
  if (!(ratio < 1.0)) {
    status.reason = StopReason::diverged;
    return status;
  }
  const std::size_t window = steps / 10;
  const std::span<const double> all(losses);
  const double last = window > 0 ? numerics::mean(all.last(window)) : 0.0;
  const double before =
      window > 0 ? numerics::mean(all.subspan(losses.size() - 2 * window, window)) : 1.0;
  if (ratio < small || std::abs(last - before) < plateau * before) {
    status.reason = StopReason::converged;
  }
  return status;
}

}  // namespace

void DescentOptions::validate() const {
  if (steps < 1) throw InvalidArgument("steps", "allowed: 1 or more");
  if (!(rate > 0.0)) throw InvalidArgument("rate", "allowed: a number above 0");
  if (!(decay >= 0.0)) throw InvalidArgument("decay", "allowed: 0 or more");
  if (starts < 2) throw InvalidArgument("starts", "allowed: 2 or more");
}

namespace {

/// Students of one width on one data set, and what they minimise: the loss of the labels and the
/// decay of their weights.
class Students {
 public:
  Students(const AttentionIndexed& model, const Dataset& data, std::size_t width, double decay,
           const Context& context)
      : model_(model),
        data_(data),
        width_(width),
        decay_(decay / std::sqrt(static_cast<double>(width * data.dim))),
        context_(context),
        pairs_(data.tokens * (data.tokens + 1) / 2),
        products_(token_products(data, context)) {}

  struct Loss {
    double labels = 0.0;
    double decay = 0.0;
    [[nodiscard]] double total() const { return labels + decay; }
  };

  [[nodiscard]] std::size_t size() const { return data_.dim * width_; }  ///< of the weights of one

  /// The loss of every student, whose weights follow one another, and its gradient.
  [[nodiscard]] std::vector<Loss> losses(std::span<const double> weights,
                                         std::span<double> gradients) {
    const std::size_t count = weights.size() / size();
    slopes_.resize(count * data_.samples * pairs_);
    products_->student_products(weights, width_, count, slopes_);
    std::vector<Loss> out(count);
    std::vector<double> trace_slopes(count);
    numerics::parallel_for(context_, count, [&](std::size_t k) {
      double norm = 0.0;
      for (const double w : weights.subspan(k * size(), size())) norm += w * w;
      out[k].decay = decay_ * norm;
      out[k].labels = label_loss(k, norm, trace_slopes[k]);
    });
    products_->student_gradients(slopes_, gradients);
    numerics::parallel_for(context_, count, [&](std::size_t k) {
      const double factor = scale() / static_cast<double>(data_.dim);
      for (std::size_t i = k * size(); i < (k + 1) * size(); ++i) {
        gradients[i] = factor * (gradients[i] - 2.0 * trace_slopes[k] * weights[i]) +
                       2.0 * decay_ * weights[i];
      }
    });
    return out;
  }

 private:
  /// h_ab = scale (p_a . p_b - delta_ab |W|^2), where p = W^T x.
  [[nodiscard]] double scale() const {
    const auto dim = static_cast<double>(data_.dim);
    return 1.0 / (std::sqrt(static_cast<double>(width_) * dim) * std::sqrt(dim));
  }

  /// The loss of student k, whose products p_a . p_b are in slopes_, where the derivatives with
  /// respect to scores take their place. `trace_slope` is the sum of those on the diagonal.
  double label_loss(std::size_t k, double norm, double& trace_slope) {
    const std::size_t tokens = data_.tokens;
    const std::size_t shown = model_.channel->label_size(tokens);
    std::vector<double> scores(tokens * tokens);
    std::vector<double> slope(tokens * tokens);
    double loss = 0.0;
    trace_slope = 0.0;
    for (std::size_t s = 0; s < data_.samples; ++s) {
      double* own = slopes_.data() + (k * data_.samples + s) * pairs_;
      for (std::size_t a = 0; a < tokens; ++a) {
        for (std::size_t b = a; b < tokens; ++b) {
          const double product = own[score_index(a, b, tokens)] - (a == b ? norm : 0.0);
          scores[a * tokens + b] = scores[b * tokens + a] = scale() * product;
        }
      }
      const std::span<const double> y(data_.labels.data() + s * shown, shown);
      loss += model_.channel->squared_error(model_, y, scores, slope);
      for (std::size_t a = 0; a < tokens; ++a) {
        trace_slope += slope[a * tokens + a];
        own[score_index(a, a, tokens)] = slope[a * tokens + a];
        for (std::size_t b = a + 1; b < tokens; ++b) {
          own[score_index(a, b, tokens)] = slope[a * tokens + b] + slope[b * tokens + a];
        }
      }
    }
    return loss / static_cast<double>(data_.dim);
  }

  const AttentionIndexed& model_;
  const Dataset& data_;
  std::size_t width_;
  double decay_;  ///< of |W|_F^2
  const Context& context_;
  std::size_t pairs_;
  std::unique_ptr<TokenProducts> products_;
  std::vector<double> slopes_;
};

void add_matrix(const std::vector<double>& matrix, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += matrix[i];
}

}  // namespace

double label_loss(const AttentionIndexed& model, const Dataset& data,
                  const std::vector<double>& weights, std::size_t width,
                  std::vector<double>& gradient, const Context& context) {
  gradient.resize(weights.size());
  return Students(model, data, width, 0.0, context).losses(weights, gradient)[0].labels;
}

DescentErrors gradient_descent(const AttentionIndexed& model, const Dataset& data,
                               const Teacher& teacher, const DescentOptions& options,
                               const Context& context) {
  options.validate();
  const std::size_t width = options.width > 0 ? options.width : teacher.width;
  const auto starts = static_cast<std::size_t>(options.starts);
  const auto dim = static_cast<double>(teacher.dim);
  Students students(model, data, width, options.decay, context);
  const std::size_t size = students.size();
  std::vector<double> weights(starts * size);
  const auto of = [&](std::size_t k) { return std::span(weights).subspan(k * size, size); };
  for (std::size_t k = 0; k < starts; ++k) {
    numerics::Stream(options.seed, "aim students", options.index * starts + k).normal(of(k));
  }
  Adam adam(weights.size());
  std::vector<double> gradients(weights.size());
  std::vector<std::vector<double>> losses(starts);
  const auto keep = [&](const std::vector<Students::Loss>& now) {
    for (std::size_t k = 0; k < starts; ++k) losses[k].push_back(now[k].total());
  };
  for (int step = 0; step < options.steps; ++step) {
    context.check();
    keep(students.losses(weights, gradients));
    adam.step(rate_at(options, step), gradients, weights, context);
  }
  const std::vector<Students::Loss> last = students.losses(weights, gradients);
  keep(last);
  std::vector<std::vector<double>> deviations(starts);  // S_student - S
  std::vector<Status> ends(starts);
  std::vector<double> train(starts);
  std::vector<double> trace(starts);
  std::vector<double> objective(starts);
  for (std::size_t k = 0; k < starts; ++k) {
    ends[k] = end_of(losses[k]);
    train[k] = last[k].labels * dim / static_cast<double>(data.samples);
    objective[k] = last[k].total() / dim;
    deviations[k] = score_matrix({of(k).begin(), of(k).end()}, teacher.dim, width, context);
    for (std::size_t i = 0; i < teacher.dim; ++i) {
      trace[k] += deviations[k][i * teacher.dim + i] / dim;
    }
    for (std::size_t i = 0; i < deviations[k].size(); ++i) deviations[k][i] -= teacher.matrix[i];
  }
  DescentErrors errors;
  for (const Status& end : ends) errors.loss.push_back(end.residual);
  errors.ends = std::move(ends);
  errors.train = std::move(train);
  errors.trace = std::move(trace);
  errors.objective = std::move(objective);
  const std::vector<double> zero(teacher.matrix.size(), 0.0);
  std::vector<double> average(zero);
  double mean = 0.0;
  for (const auto& deviation : deviations) {
    errors.single.push_back(squared_distance(deviation, zero, teacher.dim));
    mean += errors.single.back() / static_cast<double>(starts);
    for (std::size_t i = 0; i < average.size(); ++i) {
      average[i] += deviation[i] / static_cast<double>(starts);
    }
  }
  errors.averaged = squared_distance(average, zero, teacher.dim);
  for (auto& deviation : deviations) add_matrix(teacher.matrix, deviation);
  add_matrix(teacher.matrix, average);
  const LabelTest labels(model, teacher.matrix, teacher.dim, options.seed, options.index, context);
  errors.test = labels.mean_of(deviations, context);
  errors.test_plug_in = labels.plug_in(average, context);
  const auto count = static_cast<double>(starts);
  errors.extrapolated = (count * errors.averaged - mean) / (count - 1.0);
  return errors;
}

}  // namespace onset::aim
