#include "text/training.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "numerics/random/stream.hpp"
#include "text/adamw.hpp"
#include "text/transformer.hpp"

namespace onset::text {
namespace {

using smi::TextMessage;

/// The number of questions that are answered at a time; any number gives the same answers.
constexpr std::size_t test_batch = 64;
/// The number of steps between two signs of life.
constexpr std::int64_t steps_between_signs = 20;
/// A run has diverged when the loss of an epoch is this many times what it was before the first
/// step, or what guessing gives.
constexpr double diverged_factor = 2.0;

/// Mean and standard error of losses over questions.
class LossMeter {
 public:
  void add(const torch::Tensor& losses) {
    const torch::Tensor values = losses.detach().to(torch::kFloat64);
    sum_ += values.sum().item<double>();
    squares_ += values.square().sum().item<double>();
    count_ += static_cast<double>(values.numel());
  }
  [[nodiscard]] double mean() const { return sum_ / count_; }
  [[nodiscard]] Estimate estimate() const {
    const double variance = std::max(0.0, squares_ / count_ - mean() * mean());
    return {mean(), std::sqrt(variance / (count_ - 1.0))};
  }

 private:
  double sum_ = 0.0;
  double squares_ = 0.0;
  double count_ = 0.0;
};

/// Indices 0, .., count-1 in the order of this run's epoch (Fisher and Yates).
std::vector<std::size_t> shuffled(std::size_t count, numerics::Stream& stream) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) {
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(stream.uniform() * static_cast<double>(i))]);
  }
  return order;
}

std::vector<Batch> batches(const std::vector<smi::TextExample>& examples,
                           const std::vector<std::size_t>& order, std::size_t size) {
  std::vector<Batch> list;
  for (std::size_t first = 0; first < order.size(); first += size) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end =
        order.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, order.size()));
    list.push_back(make_batch(examples, {begin, end}));
  }
  return list;
}

std::int64_t count_correct(const Transformer& model, const std::vector<Batch>& questions) {
  const torch::NoGradGuard no_gradients;
  std::int64_t correct = 0;
  for (const Batch& batch : questions) {
    correct += (model(batch).argmax(-1) == batch.labels).sum().item<std::int64_t>();
  }
  return correct;
}

/// tr(G_t G_end) / (|G_t| |G_end|) of the Gram matrices G = w^T w [smi 82], by way of the smaller
/// products w_t w_end^T.
double similarity(const torch::Tensor& now, const torch::Tensor& end) {
  const auto overlap = [](const torch::Tensor& a, const torch::Tensor& b) {
    return a.matmul(b.t()).square().sum().item<double>();
  };
  const torch::Tensor a = now.to(torch::kFloat64);
  const torch::Tensor b = end.to(torch::kFloat64);
  return overlap(a, b) / std::sqrt(overlap(a, a) * overlap(b, b));
}

/// The weights of all layers at the recorded steps.
class Trajectory {
 public:
  void record(std::int64_t step, const Transformer& model) {
    steps_.push_back(step);
    weights_.emplace_back();
    for (const torch::Tensor& w : model.weights()) weights_.back().push_back(w.detach().clone());
  }

  [[nodiscard]] std::vector<smi::TextRow> similarities() const {
    std::vector<smi::TextRow> rows(steps_.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      rows[k].step = steps_[k];
      for (std::size_t l = 0; l < weights_[k].size(); ++l) {
        rows[k].similarity.push_back(similarity(weights_[k][l], weights_.back()[l]));
      }
    }
    return rows;
  }

 private:
  std::vector<std::int64_t> steps_;
  std::vector<std::vector<torch::Tensor>> weights_;
};

/// One run in progress.
class Run {
 public:
  Run(const smi::TextJob& job, std::int64_t run,
      const std::function<void(const TextMessage&)>& tell)
      : job_(job),
        run_(run),
        tell_(tell),
        model_(job.options, job.corpus, run),
        parameters_(model_.parameters()),
        optimiser_(job.options.rate, job.options.decay),
        order_(job.options.seed, "text order", static_cast<std::uint64_t>(run)),
        last_step_(total_steps(job.options, job.corpus.train.size())) {
    std::vector<std::size_t> all(job.corpus.test.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    test_ = batches(job.corpus.test, all, test_batch);
  }

  void train() {
    for (std::int64_t epoch = 0; epoch < job_.options.epochs; ++epoch) {
      if (train_epoch()) continue;
      tell_({TextMessage::Kind::diverged, run_, {step_, {}, 0, {}}});
      return;
    }
    for (const smi::TextRow& row : trajectory_.similarities()) {
      tell_({TextMessage::Kind::similarity, run_, row});
    }
    tell_({TextMessage::Kind::finished, run_, {step_, {}, 0, {}}});
  }

 private:
  /// Returns false when the run has diverged.
  bool train_epoch() {
    const auto order = shuffled(job_.corpus.train.size(), order_);
    LossMeter of_epoch;
    for (const Batch& batch :
         batches(job_.corpus.train, order, static_cast<std::size_t>(job_.options.batch))) {
      take_step(batch, of_epoch);
      if (!std::isfinite(of_epoch.mean())) return false;
    }
    return of_epoch.mean() <= diverged_factor * first_loss_;
  }

  void take_step(const Batch& batch, LossMeter& of_epoch) {
    for (torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
    const torch::Tensor losses =
        torch::cross_entropy_loss(model_(batch), batch.labels, {}, at::Reduction::None);
    since_row_.add(losses);
    of_epoch.add(losses);
    if (step_ == 0) {
      const double guessing = std::log(static_cast<double>(job_.corpus.classes));
      first_loss_ = std::max(guessing, since_row_.mean());
      record();
    }
    losses.mean().backward();
    optimiser_.step(trained());
    ++step_;
    if (step_ % job_.options.record_every == 0 || step_ == last_step_) {
      record();
    } else if (step_ % steps_between_signs == 0) {
      tell_({TextMessage::Kind::at, run_, {step_, {}, 0, {}}});
    }
  }

  [[nodiscard]] std::vector<Trained> trained() {
    std::vector<Trained> all;
    for (torch::Tensor& parameter : parameters_) {
      parameter.mutable_grad() = parameter.grad().contiguous();
      const auto size = static_cast<std::size_t>(parameter.numel());
      all.push_back(
          {{parameter.data_ptr<float>(), size}, {parameter.grad().data_ptr<float>(), size}});
    }
    return all;
  }

  void record() {
    trajectory_.record(step_, model_);
    tell_({TextMessage::Kind::row,
           run_,
           {step_, since_row_.estimate(), count_correct(model_, test_), {}}});
    // The loss of the first batch is that of row 0 and belongs to the steps after it as well.
    if (step_ > 0) since_row_ = {};
  }

  const smi::TextJob& job_;
  std::int64_t run_;
  const std::function<void(const TextMessage&)>& tell_;
  Transformer model_;
  std::vector<torch::Tensor> parameters_;
  AdamW optimiser_;
  numerics::Stream order_;
  std::vector<Batch> test_;
  Trajectory trajectory_;
  LossMeter since_row_;
  double first_loss_ = 0.0;
  std::int64_t step_ = 0;
  std::int64_t last_step_;
};

}  // namespace

void train(const smi::TextJob& job, std::int64_t run,
           const std::function<void(const TextMessage&)>& tell) {
  Run(job, run, tell).train();
}

void use_one_thread() {
  at::set_num_threads(1);
  at::set_num_interop_threads(1);
}

}  // namespace onset::text
