#include "aim/learners/gradient_descent.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "aim/learners/label_test.hpp"
#include "aim/model/channel.hpp"
#include "numerics/linear_algebra.hpp"
#include "numerics/parallel.hpp"
#include "numerics/random.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

/// Adam with its usual constants.
class Adam {
 public:
  explicit Adam(std::size_t size) : mean_(size), square_(size) {}
  void step(double rate, const std::vector<double>& gradient, std::vector<double>& x) {
    constexpr double decay1 = 0.9;
    constexpr double decay2 = 0.999;
    constexpr double floor = 1e-8;
    power1_ *= decay1;
    power2_ *= decay2;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean_[i] = decay1 * mean_[i] + (1.0 - decay1) * gradient[i];
      square_[i] = decay2 * square_[i] + (1.0 - decay2) * gradient[i] * gradient[i];
      x[i] -=
          rate * (mean_[i] / (1.0 - power1_)) / (std::sqrt(square_[i] / (1.0 - power2_)) + floor);
    }
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

double label_loss(const AttentionIndexed& model, const Dataset& data,
                  const std::vector<double>& weights, std::size_t width,
                  std::vector<double>& gradient, const Context& context) {
  const std::size_t tokens = data.tokens;
  const std::size_t rows = data.samples * tokens;
  const std::size_t shown = model.channel->label_size(tokens);
  const auto dim = static_cast<double>(data.dim);
  // h_ab = (p_a . p_b / sqrt(r d) - delta_ab Tr S) / sqrt(d), p = W^T x.
  const double scale = 1.0 / (std::sqrt(static_cast<double>(width) * dim) * std::sqrt(dim));
  std::vector<double> p(rows * width);
  numerics::multiply({data.inputs.data(), rows, data.dim}, {weights.data(), data.dim, width}, p,
                     context);
  double norm = 0.0;
  for (const double w : weights) norm += w * w;
  std::vector<double> slope(rows * width, 0.0);
  std::vector<double> scores(tokens * tokens);
  std::vector<double> out(tokens * tokens);
  double loss = 0.0;
  double trace_slope = 0.0;
  for (std::size_t s = 0; s < data.samples; ++s) {
    const double* fields = p.data() + s * tokens * width;
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = a; b < tokens; ++b) {
        double dot = a == b ? -norm : 0.0;
        for (std::size_t i = 0; i < width; ++i)
          dot += fields[a * width + i] * fields[b * width + i];
        scores[a * tokens + b] = scores[b * tokens + a] = scale * dot;
      }
    }
    const std::span<const double> y(data.labels.data() + s * shown, shown);
    loss += model.channel->squared_error(model, y, scores, out);
    double* slopes = slope.data() + s * tokens * width;
    for (std::size_t a = 0; a < tokens; ++a) {
      trace_slope += out[a * tokens + a];
      for (std::size_t b = 0; b < tokens; ++b) {
        const double weight = out[a * tokens + b] + out[b * tokens + a];
        for (std::size_t i = 0; i < width; ++i)
          slopes[a * width + i] += weight * fields[b * width + i];
      }
    }
  }
  gradient.resize(weights.size());
  numerics::transpose_multiply({data.inputs.data(), rows, data.dim}, {slope.data(), rows, width},
                               gradient, context);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = scale / dim * (gradient[i] - 2.0 * trace_slope * weights[i]);
  }
  return loss / dim;
}

namespace {

/// The weights of a student and what it minimises: the loss of the labels and the decay.
class Descent {
 public:
  Descent(const AttentionIndexed& model, const Dataset& data, std::size_t width, double decay)
      : model_(model),
        data_(data),
        width_(width),
        decay_(decay / std::sqrt(static_cast<double>(width * data.dim))) {}

  struct Loss {
    double labels = 0.0;
    double decay = 0.0;
    [[nodiscard]] double total() const { return labels + decay; }
  };
  [[nodiscard]] Loss loss(const std::vector<double>& weights, std::vector<double>& gradient,
                          const Context& context) const {
    Loss out{label_loss(model_, data_, weights, width_, gradient, context), 0.0};
    for (std::size_t i = 0; decay_ > 0.0 && i < weights.size(); ++i) {
      out.decay += decay_ * weights[i] * weights[i];
      gradient[i] += 2.0 * decay_ * weights[i];
    }
    return out;
  }

 private:
  const AttentionIndexed& model_;
  const Dataset& data_;
  std::size_t width_;
  double decay_;  ///< of |W|_F^2
};

}  // namespace

namespace {

void add_matrix(const std::vector<double>& matrix, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += matrix[i];
}

}  // namespace

DescentErrors gradient_descent(const AttentionIndexed& model, const Dataset& data,
                               const Teacher& teacher, const DescentOptions& options,
                               const Context& context) {
  options.validate();
  const std::size_t width = options.width > 0 ? options.width : teacher.width;
  const std::size_t size = teacher.dim * width;
  const auto starts = static_cast<std::size_t>(options.starts);
  const auto dim = static_cast<double>(teacher.dim);
  const Descent descent(model, data, width, options.decay);
  std::vector<std::vector<double>> deviations(starts);  // S_student - S
  std::vector<Status> ends(starts);
  std::vector<double> train(starts);
  std::vector<double> trace(starts);
  std::vector<double> objective(starts);
  Context alone = context;
  alone.threads = 1;
  numerics::parallel_for(context, starts, [&](std::size_t k) {
    std::vector<double> weights(size);
    numerics::Stream(options.seed, "aim students", options.index * starts + k).normal(weights);
    Adam adam(size);
    std::vector<double> gradient;
    std::vector<double> losses;
    for (int step = 0; step < options.steps; ++step) {
      alone.check();
      losses.push_back(descent.loss(weights, gradient, alone).total());
      adam.step(rate_at(options, step), gradient, weights);
    }
    const Descent::Loss last = descent.loss(weights, gradient, alone);
    losses.push_back(last.total());
    ends[k] = end_of(losses);
    train[k] = last.labels * dim / static_cast<double>(data.samples);
    objective[k] = last.total() / dim;
    deviations[k] = score_matrix(weights, teacher.dim, width, alone);
    for (std::size_t i = 0; i < teacher.dim; ++i) {
      trace[k] += deviations[k][i * teacher.dim + i] / dim;
    }
    for (std::size_t i = 0; i < deviations[k].size(); ++i) deviations[k][i] -= teacher.matrix[i];
  });
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
