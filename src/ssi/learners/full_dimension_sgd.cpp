// Online SGD with all its dimensions. The teacher lies along the first axis and the directions of
// positional encodings along the next ones, which costs no generality; everything else is as the
// definition says.
#include <algorithm>
#include <cmath>

#include "numerics/parallel.hpp"
#include "numerics/random/normal_stream.hpp"
#include "numerics/simd/float_vectors.hpp"
#include "onset/core/error.hpp"
#include "onset/ssi/learners/sgd.hpp"

namespace onset::ssi {
namespace {

namespace simd = numerics::simd;

/// The number of runs that a thread advances together, so that links see batches.
constexpr std::size_t together = 8;

/// The weights of one run: `vectors` of them (one, or one per token), each d long, with one joint
/// constraint |W|^2 = vectors * d; what is stored is W/scale, so that a step needs no extra pass.
class Weights {
 public:
  /// `axes`: how many coordinates, from the first on, a start without overlaps has at 0.
  Weights(std::size_t dim, std::size_t vectors, std::size_t axes, const SgdOptions& options,
          std::size_t run)
      : dim_(dim), vectors_(vectors), w_(dim * vectors) {
    numerics::NormalStream(options.seed, "ssi full start", run).fill(std::span<float>(w_));
    if (options.start != Start::random) {
      for (std::size_t v = 0; v < vectors_; ++v) std::fill_n(vector(v), axes, 0.0f);
      double square = 0.0;
      for (const float x : w_) square += static_cast<double>(x) * x;
      const bool overlapped = options.start == Start::overlapped;
      const double rest =
          static_cast<double>(vectors_) * static_cast<double>(overlapped ? dim_ - 1 : dim_);
      const auto factor = static_cast<float>(std::sqrt(rest / square));
      for (float& x : w_) x *= factor;
      if (overlapped) {
        for (std::size_t v = 0; v < vectors_; ++v) vector(v)[0] = 1.0f;
      }
    }
    square_ = simd::dot(w_.data(), w_.data(), w_.size());
    rescale();
  }

  [[nodiscard]] float* vector(std::size_t v) { return w_.data() + v * dim_; }
  [[nodiscard]] const float* vector(std::size_t v) const { return w_.data() + v * dim_; }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] std::size_t vectors() const { return vectors_; }

  void set_square(double square) {
    square_ = square;
    scale_ = std::sqrt(static_cast<double>(w_.size()) / square_);
    if (scale_ < 0.5 || scale_ > 2.0) rescale();
  }

 private:
  void rescale() {
    const double factor = std::sqrt(static_cast<double>(w_.size()) / square_);
    for (float& x : w_) x = static_cast<float>(x * factor);
    square_ = static_cast<double>(w_.size());
    scale_ = 1.0;
  }
  std::size_t dim_;
  std::size_t vectors_;
  std::vector<float> w_;
  double square_ = 1.0;
  double scale_ = 1.0;
};

class Group {
 public:
  Group(const SequenceModel& model, const SgdOptions& options, std::size_t first, std::size_t count)
      : model_(model),
        options_(options),
        first_(first),
        count_(count),
        dim_(static_cast<std::size_t>(options.dim)),
        tokens_(model.tokens()),
        outputs_(model.target->outputs()),
        encodings_(model.all_encodings()),
        x_(options.batch * count * tokens_ * dim_),
        teacher_(tokens_ * count),
        z_(tokens_ * count),
        delta_(options.batch * tokens_ * count),
        y_(outputs_ * count),
        f_(outputs_ * count),
        label_noise_(outputs_) {
    const std::size_t vectors = model.student.vector_per_token ? tokens_ : 1;
    for (std::size_t r = 0; r < count; ++r) {
      // Without an encoding the second coordinate starts at 0 all the same.
      const std::size_t axes = 1 + std::max<std::size_t>(1, encodings_.own.size());
      weights_.emplace_back(dim_, vectors, axes, options, first + r);
      streams_.emplace_back(options.seed, "ssi full", first + r);
      noise_.emplace_back(options.seed, "ssi full noise", first + r);
    }
  }

  void run(std::span<SgdRun> runs, const Context& context) {
    note(0, runs);
    for (std::uint64_t step = 0; step < options_.steps; ++step) {
      context.check();
      advance();
      if (note(step + 1, runs) && options_.stop_at_level) return;
    }
  }

 private:
  [[nodiscard]] float* sample(std::size_t b, std::size_t run, std::size_t token) {
    return x_.data() + ((b * count_ + run) * tokens_ + token) * dim_;
  }

  void draw_fields(std::size_t b) {
    const double root = std::sqrt(static_cast<double>(dim_));
    for (std::size_t r = 0; r < count_; ++r) {
      Weights& w = weights_[r];
      streams_[r].fill(std::span(sample(b, r, 0), tokens_ * dim_));
      for (std::size_t i = 0; i < tokens_; ++i) {
        const float* own = w.vector(w.vectors() > 1 ? i : 0);
        teacher_[i * count_ + r] = sample(b, r, i)[0];
        z_[i * count_ + r] =
            w.scale() * (simd::dot(sample(b, r, i), own, dim_) + encoding_product(i, own)) / root;
      }
    }
  }

  /// <P_i, w>, up to the factor of w.
  [[nodiscard]] double encoding_product(std::size_t token, const float* w) const {
    double sum = encodings_.teacher[token] * w[0];
    for (std::size_t k = 0; k < encodings_.own.size(); ++k) {
      sum += encodings_.own[k][token] * w[k + 1];
    }
    return sum;
  }

  void move(std::size_t r) {
    Weights& w = weights_[r];
    const double factor = -options_.rate / std::sqrt(static_cast<double>(dim_)) / w.scale();
    double square = 0.0;
    for (std::size_t b = 0; b < options_.batch; ++b) {
      square = 0.0;  // the norm is that of the last state
      for (std::size_t i = 0; i < tokens_; ++i) {
        const double d = delta_[(b * tokens_ + i) * count_ + r];
        float* own = w.vector(w.vectors() > 1 ? i : 0);
        // The positional part comes first, for the same reason.
        own[0] += static_cast<float>(factor * d * encodings_.teacher[i]);
        for (std::size_t k = 0; k < encodings_.own.size(); ++k) {
          own[k + 1] += static_cast<float>(factor * d * encodings_.own[k][i]);
        }
        const double now =
            simd::add_scaled(static_cast<float>(factor * d), sample(b, r, i), own, dim_);
        square = w.vectors() > 1 ? square + now : now;
      }
    }
    w.set_square(square);
  }

  void add_noise() {
    if (options_.noise == 0.0) return;
    for (std::size_t r = 0; r < count_; ++r) {
      noise_[r].fill(label_noise_);
      for (std::size_t k = 0; k < outputs_; ++k) {
        y_[k * count_ + r] += options_.noise * label_noise_[k];
      }
    }
  }

  /// The slopes of one sample of every run, at the weights before the step.
  void compute_slopes(std::size_t b) {
    draw_fields(b);
    model_.target->values(count_, teacher_.data(), y_.data());
    add_noise();
    model_.student.link->values(count_, z_.data(), f_.data());
    for (std::size_t k = 0; k < y_.size(); ++k) y_[k] = f_[k] - y_[k];
    loss_weights(model_.loss, outputs_, count_, y_.data());
    double* delta = delta_.data() + b * tokens_ * count_;
    model_.student.link->pullback(count_, z_.data(), f_.data(), y_.data(), delta);
    for (std::size_t i = 0; i < tokens_ * count_; ++i) {
      delta[i] /= static_cast<double>(options_.batch);
    }
  }

  void advance() {
    for (std::size_t b = 0; b < options_.batch; ++b) compute_slopes(b);
    for (std::size_t r = 0; r < count_; ++r) move(r);
  }

  /// Records overlaps and first passages; tells whether every run has passed.
  bool note(std::uint64_t step, std::span<SgdRun> runs) {
    const double root = std::sqrt(static_cast<double>(dim_));
    bool all = true;
    for (std::size_t r = 0; r < count_; ++r) {
      const Weights& w = weights_[r];
      double square = 0.0;
      for (std::size_t v = 0; v < w.vectors(); ++v) {
        square += std::pow(w.scale() * w.vector(v)[0] / root, 2);
      }
      SgdRun& run = runs[r];
      run.m = w.vectors() > 1 ? std::sqrt(square / static_cast<double>(w.vectors()))
                              : w.scale() * w.vector(0)[0] / root;
      run.e = w.scale() * positional_part(w.vector(0)) / root;
      if (run.first_passage == 0 && std::max(std::abs(run.e), std::abs(run.m)) >= options_.level) {
        run.first_passage = step;
      }
      all = all && run.first_passage > 0;
      keep_path(step, first_ + r, run);
    }
    return all;
  }

  /// The component along P, or the length of those along several directions.
  [[nodiscard]] double positional_part(const float* w) const {
    const std::size_t directions = encodings_.own.size();
    if (directions <= 1) return directions == 1 ? w[1] : 0.0;
    double square = 0.0;
    for (std::size_t k = 1; k <= directions; ++k) square += static_cast<double>(w[k]) * w[k];
    return std::sqrt(square);
  }

  void keep_path(std::uint64_t step, std::size_t index, SgdRun& run) const {
    const std::size_t kept = run.path.size();
    if (index >= options_.paths || kept >= options_.path_steps.size()) return;
    if (options_.path_steps[kept] == step) run.path.push_back({run.e, run.m});
  }

  const SequenceModel& model_;
  const SgdOptions& options_;
  std::size_t first_;
  std::size_t count_;
  std::size_t dim_;
  std::size_t tokens_;
  std::size_t outputs_;
  Encodings encodings_;
  std::vector<float> x_;
  std::vector<double> teacher_;
  std::vector<double> z_;
  std::vector<double> delta_;
  std::vector<double> y_;
  std::vector<double> f_;
  std::vector<double> label_noise_;
  std::vector<Weights> weights_;
  std::vector<numerics::NormalStream> streams_;
  std::vector<numerics::NormalStream> noise_;
};

}  // namespace

std::vector<SgdRun> run_full_dimension(const SequenceModel& model, const SgdOptions& options,
                                       const Context& context) {
  options.validate(model);
  if (options.dim > max_full_dim) {
    throw InvalidArgument("dim", "allowed with all dimensions: up to 1e8; the chain has no limit");
  }
  std::vector<SgdRun> runs(options.runs);
  const std::size_t groups = (options.runs + together - 1) / together;
  numerics::parallel_for(context, groups, [&](std::size_t g) {
    const std::size_t first = g * together;
    const std::size_t count = std::min(together, options.runs - first);
    Group group(model, options, first, count);
    group.run(std::span(runs).subspan(first, count), context);
  });
  return runs;
}

}  // namespace onset::ssi
