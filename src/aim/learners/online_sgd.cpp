#include "aim/learners/online_sgd.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "aim/limits/flow/matrix_moments.hpp"
#include "aim/limits/flow/matrix_path.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "aim/model/data.hpp"
#include "aim/model/training_loss.hpp"
#include "numerics/linear_algebra.hpp"
#include "numerics/normal_stream.hpp"
#include "onset/core/error.hpp"

namespace onset::aim {
namespace {

using Values = std::vector<double>;
using numerics::MatrixView;

/// Samples that are worked on together; a batch may be many of these.
constexpr std::size_t chunk = 256;

Values teacher_eigenvalues(const AttentionIndexed& labels, const OnlineOptions& options,
                           const Context& context) {
  if (options.teacher == TeacherSpectrum::quantiles) {
    return teacher_quantiles(labels.rho, options.dim);
  }
  Teacher teacher = sample_teacher(labels, options.dim, options.seed, options.run, context);
  Values values(options.dim);
  numerics::symmetric_eigen(options.dim, teacher.matrix, values);
  return values;
}

/// Tokens of some samples and the derivatives of their losses.
struct Samples {
  std::size_t count = 0;
  Values tokens;   ///< count T x d
  Values teacher;  ///< scores, count x T x T, with the noise of linear labels
  Values student;  ///< scores
  Values slopes;   ///< derivatives of the loss with respect to them
  double loss = 0.0;
  std::size_t disagreements = 0;  ///< rows whose largest scores differ
};

/// The weights of a student and the three things that training does with them.
class TrainedStudent {
 public:
  virtual ~TrainedStudent() = default;
  /// Fills the scores; keeps what the gradient needs besides.
  virtual void score(Samples& samples) = 0;
  /// Adds the gradient of the losses' sum to what was gathered.
  virtual void gather(const Samples& samples) = 0;
  /// weights -= eta (gathered/batch + decay weights/d), and forgets what was gathered.
  virtual void step(double eta, double batch, double decay) = 0;
  [[nodiscard]] virtual Values matrix() const = 0;
};

/// out = x_a . y_b over each sample's tokens, minus the trace on the diagonal, over sqrt(d).
void pair_scores(const Values& x, const Values& y, std::size_t width, std::size_t tokens,
                 double trace, double scale, Values& out) {
  const std::size_t count = x.size() / (tokens * width);
  out.resize(count * tokens * tokens);
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = 0; b < tokens; ++b) {
        const double* left = x.data() + (s * tokens + a) * width;
        const double* right = y.data() + (s * tokens + b) * width;
        double dot = a == b ? -trace : 0.0;
        for (std::size_t i = 0; i < width; ++i) dot += left[i] * right[i];
        out[(s * tokens + a) * tokens + b] = scale * dot;
      }
    }
  }
}

/// out_a = sum_b D_ab x_b (D_ba with `transposed`) over each sample's tokens.
Values mixed_rows(const Values& slopes, const Values& x, std::size_t width, std::size_t tokens,
                  bool transposed) {
  Values out(x.size(), 0.0);
  const std::size_t count = x.size() / (tokens * width);
  for (std::size_t s = 0; s < count; ++s) {
    const double* d = slopes.data() + s * tokens * tokens;
    for (std::size_t a = 0; a < tokens; ++a) {
      double* to = out.data() + (s * tokens + a) * width;
      for (std::size_t b = 0; b < tokens; ++b) {
        const double weight = transposed ? d[b * tokens + a] : d[a * tokens + b];
        const double* from = x.data() + (s * tokens + b) * width;
        for (std::size_t i = 0; i < width; ++i) to[i] += weight * from[i];
      }
    }
  }
  return out;
}

double diagonal_sum(const Values& slopes, std::size_t tokens) {
  double sum = 0.0;
  for (std::size_t i = 0; i < slopes.size(); i += tokens * tokens) {
    for (std::size_t a = 0; a < tokens; ++a) sum += slopes[i + a * tokens + a];
  }
  return sum;
}

void add_to(Values& sum, const Values& more, double factor = 1.0) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * more[i];
}

double product_sum(const Values& x, const Values& y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// W with S = W W^T, or U and V with M = U V^T.
class Factorised : public TrainedStudent {
 public:
  Factorised(const FlowModel& model, MatrixWeights start)
      : tokens_(static_cast<std::size_t>(model.labels.tokens)),
        tied_(model.student == Student::tied),
        weights_(std::move(start)),
        scale_(1.0 / std::sqrt(static_cast<double>(weights_.size))),
        gathered_u_(weights_.u.size(), 0.0),
        gathered_v_(weights_.v.size(), 0.0) {}

  void score(Samples& samples) override {
    left_ = projected(samples, weights_.u);
    if (!tied_) right_ = projected(samples, weights_.v);
    const double trace = product_sum(weights_.u, tied_ ? weights_.u : weights_.v);
    pair_scores(left_, tied_ ? left_ : right_, weights_.width, tokens_, trace, scale_,
                samples.student);
  }

  void gather(const Samples& samples) override {
    const std::size_t width = weights_.width;
    const double diagonal = diagonal_sum(samples.slopes, tokens_);
    if (tied_) {
      Values rows = mixed_rows(samples.slopes, left_, width, tokens_, false);
      add_to(rows, mixed_rows(samples.slopes, left_, width, tokens_, true));
      add_to(gathered_u_, back(samples, rows), scale_);
      add_to(gathered_u_, weights_.u, -2.0 * scale_ * diagonal);
      return;
    }
    add_to(gathered_u_, back(samples, mixed_rows(samples.slopes, right_, width, tokens_, false)),
           scale_);
    add_to(gathered_u_, weights_.v, -scale_ * diagonal);
    add_to(gathered_v_, back(samples, mixed_rows(samples.slopes, left_, width, tokens_, true)),
           scale_);
    add_to(gathered_v_, weights_.u, -scale_ * diagonal);
  }

  void step(double eta, double batch, double decay) override {
    const double kept = 1.0 - eta * decay * scale_ * scale_;
    const auto update = [&](Values& weights, Values& gathered) {
      for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] = kept * weights[i] - eta / batch * gathered[i];
        gathered[i] = 0.0;
      }
    };
    update(weights_.u, gathered_u_);
    update(weights_.v, gathered_v_);
  }

  [[nodiscard]] Values matrix() const override {
    Values out(weights_.size * weights_.size);
    const MatrixView u{weights_.u.data(), weights_.size, weights_.width};
    const MatrixView v{weights_.v.data(), weights_.size, weights_.width};
    numerics::multiply_by_transpose(u, tied_ ? u : v, out, {});
    return out;
  }

 private:
  [[nodiscard]] Values projected(const Samples& samples, const Values& weights) const {
    Values out(samples.count * tokens_ * weights_.width);
    numerics::multiply({samples.tokens.data(), samples.count * tokens_, weights_.size},
                       {weights.data(), weights_.size, weights_.width}, out, {});
    return out;
  }
  /// X^T rows.
  [[nodiscard]] Values back(const Samples& samples, const Values& rows) const {
    Values out(weights_.size * weights_.width);
    const std::size_t count = samples.count * tokens_;
    numerics::transpose_multiply({samples.tokens.data(), count, weights_.size},
                                 {rows.data(), count, weights_.width}, out, {});
    return out;
  }

  std::size_t tokens_;
  bool tied_;
  MatrixWeights weights_;
  double scale_;  ///< 1/sqrt(d)
  Values left_;
  Values right_;
  Values gathered_u_;
  Values gathered_v_;
};

/// S itself; its gradient is that of any matrix, made symmetric.
class Direct : public TrainedStudent {
 public:
  Direct(const FlowModel& model, const OnlineOptions& options)
      : tokens_(static_cast<std::size_t>(model.labels.tokens)),
        dim_(options.dim),
        scale_(1.0 / std::sqrt(static_cast<double>(dim_))),
        matrix_(dim_ * dim_, 0.0),
        gathered_(dim_ * dim_, 0.0) {
    if (model.start == StudentStart::gaussian) {
      FlowModel tied = model;
      tied.student = Student::tied;
      matrix_ = Factorised(tied, matrix_start(tied, dim_, options.seed, options.run)).matrix();
    } else if (model.start == StudentStart::identity) {
      for (std::size_t i = 0; i < dim_; ++i) matrix_[i * dim_ + i] = model.scale;
    }
  }

  void score(Samples& samples) override {
    Values products(samples.tokens.size());
    numerics::multiply({samples.tokens.data(), samples.count * tokens_, dim_},
                       {matrix_.data(), dim_, dim_}, products, {});
    double trace = 0.0;
    for (std::size_t i = 0; i < dim_; ++i) trace += matrix_[i * dim_ + i];
    pair_scores(samples.tokens, products, dim_, tokens_, trace, scale_, samples.student);
  }

  void gather(const Samples& samples) override {
    Values rows = mixed_rows(samples.slopes, samples.tokens, dim_, tokens_, false);
    add_to(rows, mixed_rows(samples.slopes, samples.tokens, dim_, tokens_, true));
    Values out(dim_ * dim_);
    const std::size_t count = samples.count * tokens_;
    numerics::transpose_multiply({samples.tokens.data(), count, dim_}, {rows.data(), count, dim_},
                                 out, {});
    add_to(gathered_, out, 0.5 * scale_);
    const double diagonal = diagonal_sum(samples.slopes, tokens_);
    for (std::size_t i = 0; i < dim_; ++i) gathered_[i * dim_ + i] -= scale_ * diagonal;
  }

  void step(double eta, double batch, double decay) override {
    const double kept = 1.0 - eta * decay * scale_ * scale_;
    for (std::size_t i = 0; i < matrix_.size(); ++i) {
      matrix_[i] = kept * matrix_[i] - eta / batch * gathered_[i];
      gathered_[i] = 0.0;
    }
  }

  [[nodiscard]] Values matrix() const override { return matrix_; }

 private:
  std::size_t tokens_;
  std::size_t dim_;
  double scale_;  ///< 1/sqrt(d)
  Values matrix_;
  Values gathered_;
};

/// Draws samples, labels them, and asks a student.
class Classroom {
 public:
  Classroom(const FlowModel& model, const OnlineOptions& options, Values teacher,
            const char* purpose)
      : model_(model),
        tokens_(static_cast<std::size_t>(model.labels.tokens)),
        teacher_(std::move(teacher)),
        normals_(options.seed, purpose, options.run) {
    for (const double x : teacher_) trace_ += x;
  }

  void draw(std::size_t count, Samples& samples) {
    const std::size_t dim = teacher_.size();
    samples.count = count;
    samples.tokens.resize(count * tokens_ * dim);
    normals_.fill(samples.tokens);
    weighted_.resize(samples.tokens.size());
    for (std::size_t i = 0; i < weighted_.size(); i += dim) {
      for (std::size_t k = 0; k < dim; ++k) {
        weighted_[i + k] = teacher_[k] * samples.tokens[i + k];
      }
    }
    const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
    pair_scores(samples.tokens, weighted_, dim, tokens_, trace_, scale, samples.teacher);
    if (model_.labels.noise_variance > 0.0) add_noise(samples);
  }

  void judge(Samples& samples) const {
    const std::size_t each = tokens_ * tokens_;
    samples.slopes.resize(samples.count * each);
    samples.loss = 0.0;
    samples.disagreements = 0;
    for (std::size_t s = 0; s < samples.count; ++s) {
      const std::span<const double> teacher(samples.teacher.data() + s * each, each);
      const std::span<const double> student(samples.student.data() + s * each, each);
      samples.loss += training_loss(model_.labels, model_.loss, teacher, student,
                                    {samples.slopes.data() + s * each, each});
      for (std::size_t a = 0; a < tokens_; ++a) {
        const auto largest = [&](std::span<const double> scores) {
          const auto row = scores.subspan(a * tokens_, tokens_);
          return std::max_element(row.begin(), row.end()) - row.begin();
        };
        if (largest(teacher) != largest(student)) ++samples.disagreements;
      }
    }
  }

 private:
  void add_noise(Samples& samples) {
    Values z(samples.teacher.size());
    normals_.fill(z);
    for (std::size_t s = 0; s < samples.count; ++s) {
      double* scores = samples.teacher.data() + s * tokens_ * tokens_;
      const double* noise = z.data() + s * tokens_ * tokens_;
      for (std::size_t a = 0; a < tokens_; ++a) {
        for (std::size_t b = a; b < tokens_; ++b) {
          const double shift = std::sqrt(model_.labels.noise_on(a == b)) * noise[a * tokens_ + b];
          scores[a * tokens_ + b] += shift;
          if (b != a) scores[b * tokens_ + a] += shift;
        }
      }
    }
  }

  FlowModel model_;
  std::size_t tokens_;
  Values teacher_;
  double trace_ = 0.0;
  numerics::NormalStream normals_;
  Values weighted_;
};

/// Looks at a student: its matrix beside the teacher's, and fresh samples.
FlowNumbers examine(const FlowModel& model, const OnlineOptions& options, const Values& teacher,
                    Classroom& classroom, TrainedStudent& student) {
  Samples samples;
  double loss = 0.0;
  std::size_t disagreements = 0;
  for (std::size_t done = 0; done < options.test_samples; done += samples.count) {
    classroom.draw(std::min(chunk, options.test_samples - done), samples);
    student.score(samples);
    classroom.judge(samples);
    loss += samples.loss;
    disagreements += samples.disagreements;
  }
  const auto count = static_cast<double>(options.test_samples);
  const StudentMoments moments = matrix_moments(teacher, student.matrix());
  FlowNumbers numbers = flow_numbers(model, moments, loss / count);
  // The teacher's own trace and norm, in the place of those of its limit.
  const auto d = static_cast<double>(teacher.size());
  double trace = 0.0;
  for (const double x : teacher) trace += x / d;
  const double norm = product_sum(teacher, teacher) / d;
  if (std::isfinite(numbers[FlowNumber::alignment])) {
    const double spread = moments.scores.p - moments.trace * moments.trace;
    numbers[FlowNumber::alignment] =
        (moments.scores.q - moments.trace * trace) / std::sqrt(spread * (norm - trace * trace));
  }
  if (model.labels.channel == &hardmax_channel()) {
    numbers[FlowNumber::disagreement] =
        static_cast<double>(disagreements) / (count * model.labels.tokens);
  }
  return numbers;
}

}  // namespace

void OnlineOptions::validate() const {
  if (dim < 2) throw InvalidArgument("dim", "allowed: 2 or more");
  if (batch < 1) throw InvalidArgument("batch", "allowed: 1 or more");
  if (!std::is_sorted(steps.begin(), steps.end())) {
    throw InvalidArgument("steps", "allowed: numbers that do not decrease");
  }
  if (test_samples < 1) throw InvalidArgument("test_samples", "allowed: 1 or more");
}

OnlineRun online_sgd(const FlowModel& model, const OnlineOptions& options, const Context& context) {
  options.validate();
  const Values teacher = teacher_eigenvalues(model.labels, options, context);
  Classroom classroom(model, options, teacher, "aim sgd tokens");
  Classroom exam(model, options, teacher, "aim sgd test");
  std::unique_ptr<TrainedStudent> student;
  if (model.student == Student::direct) {
    student = std::make_unique<Direct>(model, options);
  } else {
    student = std::make_unique<Factorised>(
        model, matrix_start(model, options.dim, options.seed, options.run));
  }
  const auto batch = static_cast<double>(options.batch);
  const double eta = model.rate * batch / static_cast<double>(options.dim);
  OnlineRun out;
  Samples samples;
  std::size_t done = 0;
  for (const std::size_t target : options.steps) {
    for (; done < target; ++done) {
      context.check();
      for (std::size_t drawn = 0; drawn < options.batch; drawn += samples.count) {
        classroom.draw(std::min(chunk, options.batch - drawn), samples);
        student->score(samples);
        classroom.judge(samples);
        student->gather(samples);
      }
      student->step(eta, batch, model.decay);
    }
    const FlowNumbers numbers = examine(model, options, teacher, exam, *student);
    if (!std::isfinite(numbers[FlowNumber::mse])) {
      out.diverged = true;
      return out;
    }
    out.numbers.push_back(numbers);
  }
  return out;
}

}  // namespace onset::aim
