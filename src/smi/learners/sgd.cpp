#include "smi/learners/sgd.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "smi/learners/sgd_start.hpp"
#include "smi/learners/token_rows.hpp"
#include "smi/model/dataset.hpp"

namespace onset::smi {
namespace {

/// The number of samples of a batch between two looks at the stop token.
constexpr std::size_t samples_together = 256;

/// A student in full dimension, and its steps.
class Student {
 public:
  Student(const SgdModel& model, const SgdOptions& options, std::span<const double> teacher,
          std::uint64_t run)
      : loss_(model.loss()),
        labels_(model.label_size()),
        shape_(model.shape()),
        options_(options),
        teacher_(teacher),
        weights_(teacher.size()),
        push_(teacher.size()),
        sample_(shape_.fields()),
        sample_gradient_(shape_.fields()),
        noise_(model.noise_size()),
        history(model, options, run) {
    numerics::Stream(options.seed, "smi student", run).normal(weights_);
    plant_start(options, teacher, weights_);
  }

  /// The teacher's labels of `count` samples, whose noise `stream` draws.
  void label(std::span<const double> inputs, std::size_t count, numerics::Stream& stream,
             std::span<double> y) {
    project(inputs, count, teacher_);
    for (std::size_t i = 0; i < count; ++i) {
      gather(i, count);
      if (!noise_.empty()) stream.normal(noise_);
      loss_->label(sample_, noise_, y.subspan(i * labels_, labels_));
    }
  }

  /// Adds the gradient of some samples of a batch to the next step.
  void add(std::span<const double> inputs, std::size_t count, std::span<const double> y) {
    const auto tokens = static_cast<std::size_t>(shape_.tokens);
    const std::size_t rows = count * tokens;
    project(inputs, count, weights_);
    for (std::size_t i = 0; i < count; ++i) {
      gather(i, count);
      (*loss_)(y.subspan(i * labels_, labels_), sample_, sample_gradient_);
      for (std::size_t l = 0; l < shape_.directions(); ++l) {
        for (std::size_t t = 0; t < tokens; ++t) {
          fields_[l * rows + i * tokens + t] = sample_gradient_[l * tokens + t];
        }
      }
    }
    back_project_rows(inputs.data(), rows, options_.dimension, fields_.data(), shape_.directions(),
                      push_.data());
  }

  /// Makes the step; `scale` is s of SgdOptions.
  void step(double scale) {
    const auto dim = static_cast<double>(options_.dimension);
    const double keep = 1.0 - options_.rate * options_.decay / dim;
    const double along = options_.rate * scale / std::sqrt(dim);
    for (std::size_t k = 0; k < weights_.size(); ++k) {
      weights_[k] = keep * weights_[k] - along * push_[k];
    }
    std::fill(push_.begin(), push_.end(), 0.0);
  }

  bool record(double time) {
    return history.add(time, overlaps(weights_, teacher_, options_.dimension));
  }

 private:
  void project(std::span<const double> inputs, std::size_t count, std::span<const double> weights) {
    const std::size_t rows = count * static_cast<std::size_t>(shape_.tokens);
    fields_.resize(std::max(fields_.size(), rows * shape_.directions()));
    project_rows(inputs.data(), rows, options_.dimension, weights.data(), shape_.directions(),
                 fields_.data());
  }
  void gather(std::size_t i, std::size_t count) {
    const auto tokens = static_cast<std::size_t>(shape_.tokens);
    for (std::size_t l = 0; l < shape_.directions(); ++l) {
      for (std::size_t t = 0; t < tokens; ++t) {
        sample_[l * tokens + t] = fields_[l * count * tokens + i * tokens + t];
      }
    }
  }

  std::unique_ptr<SampleLoss> loss_;
  std::size_t labels_;  // numbers of a label
  FieldShape shape_;
  const SgdOptions& options_;
  std::span<const double> teacher_;
  std::vector<double> weights_, push_;
  std::vector<double> fields_;  // fields of a batch, then the loss's gradient in them
  std::vector<double> sample_, sample_gradient_, noise_;

 public:
  SgdHistory history;
};

/// The samples of a run, drawn on one thread; nothing where the user stopped it.
std::optional<Dataset> drawn_data(const SgdModel& model, const SgdOptions& options,
                                  std::size_t samples, std::uint64_t run, const Context& context) {
  Context alone = context;
  alone.threads = 1;
  try {
    return draw_dataset(model.model(), options.dimension, samples, options.seed, run, alone);
  } catch (const Interrupted&) {
    return std::nullopt;
  }
}

SgdRun stopped_before_its_start() {
  SgdRun out;
  out.interrupted = true;
  return out;
}

}  // namespace

void SgdOptions::validate() const {
  const auto check = [](bool good, const char* field, const char* allowed) {
    if (!good) throw InvalidArgument(field, std::string("is not allowed; allowed: ") + allowed);
  };
  check(dimension >= 2, "dimension", "2 or more");
  check(batch >= 1, "batch", "1 or more");
  check(rate > 0.0 && std::isfinite(rate), "rate", "a positive number");
  check(decay >= 0.0 && std::isfinite(decay), "decay", "0 or a positive number");
  check(init > 0.0 && std::isfinite(init), "init", "a positive number");
  check(start_cosine >= 0.0 && start_cosine <= 1.0, "start_cosine", "a number in [0, 1]");
  check(time > 0.0 && std::isfinite(time), "time", "a positive number");
  check(records >= 1, "records", "1 or more");
  check(reuse >= 1, "reuse", "1 or more");
}

SgdRun sgd_batch(const SgdModel& model, const SgdOptions& options, std::uint64_t run,
                 const Context& context) {
  options.validate();
  const auto samples = static_cast<std::size_t>(
      std::llround(options.alpha * static_cast<double>(options.dimension)));
  if (samples < 1) throw InvalidArgument("alpha", "means no sample; allowed: at least one sample");
  const std::optional<Dataset> drawn = drawn_data(model, options, samples, run, context);
  if (!drawn) return stopped_before_its_start();
  const Dataset& data = *drawn;
  Student student(model, options, data.teacher, run);
  const std::size_t size = data.tokens * options.dimension;
  const std::size_t labels = model.label_size();
  std::vector<double> y;
  y.reserve(samples * labels);
  numerics::Stream noise(options.seed, "smi batch noise", run);
  for (std::size_t first = 0; first < samples; first += samples_together) {
    if (context.stop.stop_requested()) return stopped_before_its_start();
    const std::size_t count = std::min(samples_together, samples - first);
    y.resize((first + count) * labels);
    student.label(std::span(data.inputs).subspan(first * size, count * size), count, noise,
                  std::span(y).subspan(first * labels, count * labels));
  }

  const std::size_t batches = (samples + options.batch - 1) / options.batch;
  for (std::size_t step = 0;; ++step) {
    // Time counts whole batches, so that all records are the same number of steps apart.
    const double time = static_cast<double>(step) / static_cast<double>(batches);
    if (time >= student.history.due() && !student.record(time)) break;
    const std::size_t begin = step % batches * options.batch;
    const std::size_t end = std::min(begin + options.batch, samples);
    for (int again = 0; again < options.reuse && !student.history.run.interrupted; ++again) {
      for (std::size_t first = begin; first < end; first += samples_together) {
        student.history.run.interrupted = context.stop.stop_requested();
        if (student.history.run.interrupted) break;
        const std::size_t count = std::min(samples_together, end - first);
        student.add(std::span(data.inputs).subspan(first * size, count * size), count,
                    std::span(y).subspan(first * labels, count * labels));
      }
      student.step(1.0 / static_cast<double>(options.dimension));
    }
    if (student.history.run.interrupted) break;
  }
  return std::move(student.history.run);
}

SgdRun sgd_online(const SgdModel& model, const SgdOptions& options, std::uint64_t run,
                  const Context& context) {
  options.validate();
  const auto tokens = static_cast<std::size_t>(model.shape().tokens);
  std::vector<double> teacher(model.shape().directions() * options.dimension);
  numerics::Stream(options.seed, "smi teacher", run).normal(teacher);
  Student student(model, options, teacher, run);
  const std::size_t most = std::min(options.batch, samples_together);
  std::vector<double> inputs(most * tokens * options.dimension);
  std::vector<double> y(most * model.label_size());
  constexpr std::uint64_t steps_per_run = std::uint64_t{1} << 40;
  for (std::uint64_t step = 0;; ++step) {
    const double time = static_cast<double>(step) * static_cast<double>(options.batch) /
                        static_cast<double>(options.dimension);
    if (time >= student.history.due() && !student.record(time)) break;
    numerics::Stream stream(options.seed, "smi online", run * steps_per_run + step);
    for (std::size_t first = 0; first < options.batch; first += samples_together) {
      student.history.run.interrupted = context.stop.stop_requested();
      if (student.history.run.interrupted) break;
      const std::size_t count = std::min(samples_together, options.batch - first);
      const auto fresh = std::span(inputs).first(count * tokens * options.dimension);
      const auto labels = std::span(y).first(count * model.label_size());
      stream.normal(fresh);
      student.label(fresh, count, stream, labels);
      student.add(fresh, count, labels);
    }
    if (student.history.run.interrupted) break;
    student.step(1.0 / static_cast<double>(options.batch));
  }
  return std::move(student.history.run);
}

}  // namespace onset::smi
