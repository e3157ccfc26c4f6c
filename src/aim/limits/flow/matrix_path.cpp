#include "aim/limits/flow/matrix_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "aim/limits/flow/matrix_moments.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "aim/model/data.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "numerics/random/normal_stream.hpp"
#include "numerics/random/stream.hpp"

namespace onset::aim {
namespace {

using Values = std::vector<double>;

/// The slope of the weights, and what the student is there.
struct Slope {
  StudentMoments student;
  Drift drift;
  Values u;
  Values v;
};

class MatrixFlow {
 public:
  MatrixFlow(const FlowModel& model, const Risk& risk, std::size_t size, const MatrixNoise& noise)
      : model_(model),
        risk_(risk),
        size_(size),
        teacher_(teacher_quantiles(model.labels.rho, size)),
        rate_(noise.rate),
        normals_(noise.seed, "aim flow noise", noise.index) {}

  [[nodiscard]] Slope slope(const MatrixWeights& at) const {
    const bool tied = model_.student == Student::tied;
    Values product(size_ * size_);
    const auto view = [&](const Values& x) {
      return numerics::MatrixView{x.data(), size_, at.width};
    };
    numerics::multiply_by_transpose(view(at.u), view(tied ? at.u : at.v), product, {});
    Slope out;
    out.student = matrix_moments(teacher_, product);
    out.drift = risk_.drift(out.student.scores);
    const Values gradient = gradient_of(product, out.drift, tied ? 2.0 : 1.0);
    out.u = applied(gradient, tied ? at.u : at.v, at.width, false);
    for (std::size_t i = 0; i < out.u.size(); ++i) out.u[i] += model_.decay * at.u[i];
    if (!tied) {
      out.v = applied(gradient, at.u, at.width, true);
      for (std::size_t i = 0; i < out.v.size(); ++i) out.v[i] += model_.decay * at.v[i];
    }
    return out;
  }

  /// One step: the midpoint rule, and the noise at the start of the step.
  void advance(const Slope& first, double step, MatrixWeights& at) {
    MatrixWeights middle = at;
    move(first, -0.5 * step, middle);
    const Slope second = slope(middle);
    Values noise_u;
    Values noise_v;
    if (rate_ > 0.0) draw_noise(first, step, at, noise_u, noise_v);
    move(second, -step, at);
    for (std::size_t i = 0; i < noise_u.size(); ++i) at.u[i] += noise_u[i];
    for (std::size_t i = 0; i < noise_v.size(); ++i) at.v[i] += noise_v[i];
  }

 private:
  /// factor (A_s M_s + A_a M_a - B S*).
  [[nodiscard]] Values gradient_of(const Values& product, const Drift& drift, double factor) const {
    Values out(product.size());
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        const double forth = product[i * size_ + j];
        const double back = product[j * size_ + i];
        out[i * size_ + j] = factor * (0.5 * drift.symmetric * (forth + back) +
                                       0.5 * drift.antisymmetric * (forth - back));
      }
      out[i * size_ + i] -= factor * drift.teacher * teacher_[i];
    }
    return out;
  }

  [[nodiscard]] Values applied(const Values& matrix, const Values& x, std::size_t width,
                               bool transposed) const {
    Values out(x.size());
    const numerics::MatrixView a{matrix.data(), size_, size_};
    const numerics::MatrixView b{x.data(), size_, width};
    if (transposed) {
      numerics::transpose_multiply(a, b, out, {});
    } else {
      numerics::multiply(a, b, out, {});
    }
    return out;
  }

  static void move(const Slope& slope, double by, MatrixWeights& at) {
    for (std::size_t i = 0; i < slope.u.size(); ++i) at.u[i] += by * slope.u[i];
    for (std::size_t i = 0; i < slope.v.size(); ++i) at.v[i] += by * slope.v[i];
  }

  /// Y = sqrt(v) GOE + sqrt(v_a) antisymmetric, applied to the weights of the other side [aim 68].
  void draw_noise(const Slope& at, double step, const MatrixWeights& weights, Values& noise_u,
                  Values& noise_v) {
    const bool tied = model_.student == Student::tied;
    const GradientNoise v = risk_.noise(at.student.scores);
    const double size = std::sqrt(rate_ * step / (2.0 * static_cast<double>(size_)));
    const double even = size * std::sqrt(v.symmetric);
    const double odd = tied ? 0.0 : size * std::sqrt(std::max(0.0, v.antisymmetric));
    Values z(size_ * size_);
    normals_.fill(z);
    // z + z^T has entries of variance 2 (1 + delta), and z - z^T is independent of it.
    Values y(z.size());
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < size_; ++j) {
        const double forth = z[i * size_ + j];
        const double back = z[j * size_ + i];
        y[i * size_ + j] = (tied ? 2.0 : 1.0) * even * (forth + back) + odd * (forth - back);
      }
    }
    noise_u = applied(y, tied ? weights.u : weights.v, weights.width, false);
    if (!tied) noise_v = applied(y, weights.u, weights.width, true);
  }

  FlowModel model_;
  const Risk& risk_;
  std::size_t size_;
  Values teacher_;
  double rate_;
  numerics::NormalStream normals_;
};

/// Notices when a rising number passes 0, between steps by a straight line.
class Mark {
 public:
  void see(double time, double height) {
    if (!passed_ && std::isfinite(height) && height >= 0.0) {
      const bool first = !std::isfinite(height_);
      passed_ = first ? time : time - (time - time_) * height / (height - height_);
    }
    time_ = time;
    height_ = height;
  }
  [[nodiscard]] std::optional<double> passed() const { return passed_; }

 private:
  double time_ = 0.0;
  double height_ = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> passed_;
};

}  // namespace

MatrixWeights matrix_start(const FlowModel& model, std::size_t size, std::uint64_t seed,
                           std::uint64_t draw) {
  MatrixWeights out;
  out.size = size;
  const bool tied = model.student == Student::tied;
  if (model.start == StudentStart::identity) {
    out.width = tied ? size : 2 * size;
    out.u.assign(size * out.width, 0.0);
    if (!tied) out.v = out.u;
    for (std::size_t i = 0; i < size; ++i) {
      out.u[i * out.width + i] = std::sqrt(model.scale);
      if (!tied) out.v[i * out.width + size + i] = std::sqrt(model.scale);
    }
    return out;
  }
  out.width = width_of(model.width_ratio, size);
  const double variance =
      model.scale / std::sqrt(static_cast<double>(size) * static_cast<double>(out.width));
  numerics::Stream stream(seed, "aim flow start", draw);
  const auto fill = [&](Values& x) {
    x.resize(size * out.width);
    stream.normal(x);
    for (double& value : x) value *= std::sqrt(variance);
  };
  fill(out.u);
  if (!tied) fill(out.v);
  return out;
}

double matrix_step(const FlowModel& model, const Risk& risk) {
  constexpr double share = 0.05;  // of the time in which the fastest direction changes by e
  const double norm = model.teacher_norm();
  const double kappa = model.width_ratio;
  const bool gaussian = model.start == StudentStart::gaussian;
  const double root = 1.0 + std::sqrt(kappa);
  const double widest = gaussian ? model.scale * root * root / std::sqrt(kappa) : model.scale;
  const Drift start = risk.drift({.error = norm});
  const Drift end = risk.drift({.p = norm, .q = norm});
  const double pull =
      std::max(start.teacher, end.teacher) * max_teacher_eigenvalue(model.labels.rho);
  const double push = std::max(start.symmetric, end.symmetric) * widest;
  return share / (4.0 * std::max(pull, push) + 2.0 * model.decay);
}

MatrixPath matrix_path(const FlowModel& model, const Risk& risk, MatrixWeights weights,
                       const std::vector<double>& times, double step, const MatrixNoise& noise,
                       const Context& context) {
  constexpr double escape_level = 0.5;
  MatrixFlow flow(model, risk, weights.size, noise);
  MatrixPath out;
  Mark escape;
  Mark half;
  double time = 0.0;
  double first_error = -1.0;
  const auto look = [&](const Slope& at) {
    if (first_error < 0.0) first_error = at.student.mse();
    escape.see(time, alignment(model, at.student).value_or(0.0) - escape_level);
    half.see(time, 0.5 * first_error - at.student.mse());
  };
  for (const double target : times) {
    const auto steps = static_cast<std::size_t>(std::ceil((target - time) / step));
    const double start = time;
    for (std::size_t i = 0; i < steps; ++i) {
      context.check();
      const double length = (target - start) / static_cast<double>(steps);
      const Slope slope = flow.slope(weights);
      look(slope);
      flow.advance(slope, length, weights);
      time = start + static_cast<double>(i + 1) * length;
    }
    time = target;
    const Slope there = flow.slope(weights);
    look(there);
    out.numbers.push_back(flow_numbers(model, there.student, there.drift.risk));
  }
  out.escape = escape.passed();
  out.half = half.passed();
  return out;
}

}  // namespace onset::aim
