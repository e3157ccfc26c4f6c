#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "aim/limits/erm/row_loss.hpp"
#include "aim/limits/erm/training_output.hpp"
#include "aim/model/channels.hpp"
#include "aim/model/data.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/point_sets/sobol.hpp"
#include "numerics/simd/vector_math.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int coarse_bits = 8;
constexpr int fine_bits = 10;
/// Minima further apart than this are different.
constexpr double minima_apart = 1e-4;

/// The minimum of |x - w|^2 / (2 chi) + l(x) over the scaled scores x = h_ab / sqrt(1 + delta_ab).
struct Minimum {
  VectorXd x;
  double value = std::numeric_limits<double>::infinity();
  double loss = 0.0;
  VectorXd gradient;  ///< of the loss
  MatrixXd hessian;
};

/// The scores of one sample with its label.
class SampleProblem {
 public:
  /// `unit` is the size of scores at which the softmax turns, 1/beta.
  SampleProblem(const RowOfLabel& row, std::size_t tokens, double unit)
      : row_(row), tokens_(tokens), unit_(unit) {}

  /// Scaled scores as a symmetric matrix, row by row.
  [[nodiscard]] std::vector<double> table(const VectorXd& x) const {
    std::vector<double> out(tokens_ * tokens_);
    for (std::size_t a = 0; a < tokens_; ++a) {
      for (std::size_t b = 0; b < tokens_; ++b) out[a * tokens_ + b] = scale(a, b) * x(index(a, b));
    }
    return out;
  }

  void set_label(const VectorXd& tau) {
    const std::vector<double> h = table(tau);
    y_.resize(h.size());
    for (std::size_t a = 0; a < tokens_; ++a) {
      row_.label({h.data() + a * tokens_, tokens_}, {y_.data() + a * tokens_, tokens_});
    }
  }

  [[nodiscard]] double test(const VectorXd& x) const {
    const std::vector<double> h = table(x);
    double error = 0.0;
    for (std::size_t a = 0; a < tokens_; ++a) {
      error += row_.test({y_.data() + a * tokens_, tokens_}, {h.data() + a * tokens_, tokens_});
    }
    return error;
  }

  [[nodiscard]] double loss(const VectorXd& x) const { return evaluate(x, x, 1.0).loss; }

  /// Newton's method with damping until the matrix is positive and the value falls.
  [[nodiscard]] Minimum from(const VectorXd& start, const VectorXd& w, double chi) const {
    constexpr int max_steps = 100;
    constexpr double close = 1e-8;
    constexpr double rounding = 1e-13;
    Minimum now = evaluate(start, w, chi);
    double damping = 0.0;
    for (int step = 0; step < max_steps; ++step) {
      const VectorXd g = (now.x - w) / chi + now.gradient;
      MatrixXd h = now.hessian;
      h.diagonal().array() += 1.0 / chi + damping;
      const std::optional<VectorXd> move = numerics::solve_positive(h, g);
      if (!move) {
        damping = std::max(2.0 * damping, 1.0 / chi);
        continue;
      }
      Minimum next = evaluate(now.x - *move, w, chi);
      const bool small = move->norm() <= close * (unit_ + now.x.norm());
      if (next.value > now.value + rounding * std::abs(now.value) && !small) {
        damping = std::max(4.0 * damping, 1.0 / chi);
        continue;
      }
      now = std::move(next);
      if (small && damping == 0.0) break;
      damping = damping > 1e-3 / chi ? 0.25 * damping : 0.0;
    }
    return now;
  }

 private:
  [[nodiscard]] Eigen::Index index(std::size_t a, std::size_t b) const {
    return static_cast<Eigen::Index>(score_index(std::min(a, b), std::max(a, b), tokens_));
  }
  [[nodiscard]] static double scale(std::size_t a, std::size_t b) {
    return a == b ? std::sqrt(2.0) : 1.0;
  }

  [[nodiscard]] Minimum evaluate(const VectorXd& x, const VectorXd& w, double chi) const {
    const std::vector<double> h = table(x);
    Minimum m;
    m.x = x;
    m.gradient = VectorXd::Zero(x.size());
    m.hessian = MatrixXd::Zero(x.size(), x.size());
    std::vector<double> g(tokens_);
    std::vector<double> second(tokens_ * tokens_);
    for (std::size_t a = 0; a < tokens_; ++a) {
      m.loss += row_.loss({y_.data() + a * tokens_, tokens_}, {h.data() + a * tokens_, tokens_}, g,
                          second);
      for (std::size_t b = 0; b < tokens_; ++b) {
        m.gradient(index(a, b)) += scale(a, b) * g[b];
        for (std::size_t c = 0; c < tokens_; ++c) {
          m.hessian(index(a, b), index(a, c)) +=
              scale(a, b) * scale(a, c) * second[b * tokens_ + c];
        }
      }
    }
    m.value = m.loss + (x - w).squaredNorm() / (2.0 * chi);
    return m;
  }

  const RowOfLabel& row_;
  std::size_t tokens_;
  double unit_;
  std::vector<double> y_;
};

class SampledOutput : public TrainingOutput {
 public:
  SampledOutput(const AttentionIndexed& model, TrainingLoss loss, std::uint64_t seed)
      : row_(model, loss),
        tokens_(static_cast<std::size_t>(model.tokens)),
        scores_(tokens_ * (tokens_ + 1) / 2),
        unit_(1.0 / model.beta),
        convex_(loss == TrainingLoss::cross_entropy || model.channel == &linear_channel()),
        teacher_norm_(1.0 + model.rho),
        label_norm_(1.0 + model.rho + model.noise_variance) {
    for (std::size_t rule = 0; rule <= numerics::default_replicates; ++rule) {
      points_.push_back(points_of(rule == 0 ? coarse_bits : fine_bits, seed, rule));
    }
  }

  [[nodiscard]] std::size_t rules() const override { return points_.size(); }
  [[nodiscard]] bool replicated() const override { return true; }

  [[nodiscard]] OutputMoments at(const Overlaps& o, std::size_t rule) const override {
    constexpr double smallest_chi = 1e-12;  // in units where beta is 1
    const double chi = std::max(o.chi, smallest_chi * unit_ * unit_);
    const double share = o.norm > 0.0 ? o.overlap / o.norm : 0.0;
    const double rest = std::sqrt(o.open_part(label_norm_, teacher_norm_));
    const double width = std::sqrt(o.norm);
    OutputMoments sum;
    double label_part = 0.0;
    double student_part = 0.0;
    double traces = 0.0;
    const std::size_t count = points_[rule].size() / (2 * scores_);
    for (std::size_t i = 0; i < count; ++i) {
      const VectorXd student = normals(rule, i, 0);
      const VectorXd label = normals(rule, i, 1);
      const VectorXd w = width * student;
      const VectorXd tau = share * w + rest * label;
      SampleProblem problem(row_, tokens_, unit_);
      problem.set_label(tau);
      Minimum best = problem.from(w, w, chi);
      if (!convex_) {
        Minimum other = problem.from(tau, w, chi);
        if ((other.x - best.x).norm() > minima_apart * (unit_ + best.x.norm())) {
          sum.bistable += 1.0;
          if (other.value < best.value) best = std::move(other);
        }
      }
      const VectorXd g = -best.gradient;
      const auto size = static_cast<Eigen::Index>(scores_);
      const MatrixXd x =
          -numerics::solve(MatrixXd::Identity(size, size) + chi * best.hessian, best.hessian);
      sum.hats.norm += g.squaredNorm();
      label_part += g.dot(label);
      student_part += g.dot(student);
      traces += x.trace();
      sum.sensitivity += x.squaredNorm();
      sum.train += best.loss;
      sum.least += best.value;
    }
    const double each = 1.0 / static_cast<double>(count);
    sum.hats.norm *= each;
    sum.hats.overlap = each * label_part / rest;
    sum.hats.chi = width > 0.0 ? -each * (student_part - share * width / rest * label_part) / width
                               : -each * traces;
    sum.train *= each;
    sum.least *= each;
    sum.bistable *= each;
    sum.sensitivity *= each;
    return sum;
  }

  [[nodiscard]] double test(const Overlaps& o, double label_norm, std::size_t rule) const override {
    const double share = o.norm > 0.0 ? o.overlap / o.norm : 0.0;
    const double rest = std::sqrt(o.open_part(label_norm, teacher_norm_));
    const std::size_t count = points_[rule].size() / (2 * scores_);
    double error = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const VectorXd w = std::sqrt(o.norm) * normals(rule, i, 0);
      SampleProblem problem(row_, tokens_, unit_);
      problem.set_label(share * w + rest * normals(rule, i, 1));
      error += problem.test(w);
    }
    return error / static_cast<double>(count);
  }

  [[nodiscard]] double multiple_loss(double zeta, std::size_t rule) const override {
    const std::size_t count = points_[rule].size() / (2 * scores_);
    const double noise = std::sqrt(label_norm_ - teacher_norm_);
    double loss = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      const VectorXd truth = std::sqrt(teacher_norm_) * normals(rule, i, 0);
      SampleProblem problem(row_, tokens_, unit_);
      problem.set_label(truth + noise * normals(rule, i, 1));
      loss += problem.loss(zeta * truth);
    }
    return loss / static_cast<double>(count);
  }

 private:
  /// Point by point: the student's normals, then the label's.
  [[nodiscard]] std::vector<double> points_of(int bits, std::uint64_t seed,
                                              std::uint64_t rule) const {
    const std::size_t count = std::size_t{1} << static_cast<unsigned>(bits);
    const std::size_t dims = 2 * scores_;
    std::vector<double> uniform(count * dims);
    numerics::scrambled_sobol_prefix(static_cast<int>(dims), seed, rule, bits)
        ->points(0, count, uniform);
    std::vector<double> normal(uniform.size());
    numerics::simd::normal_quantile(uniform, normal);
    std::vector<double> out(uniform.size());
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t d = 0; d < dims; ++d) out[i * dims + d] = normal[d * count + i];
    }
    return out;
  }

  [[nodiscard]] VectorXd normals(std::size_t rule, std::size_t point, std::size_t half) const {
    return Eigen::Map<const VectorXd>(points_[rule].data() + (2 * point + half) * scores_,
                                      static_cast<Eigen::Index>(scores_));
  }

  RowOfLabel row_;
  std::size_t tokens_;
  std::size_t scores_;
  double unit_;  ///< of scores: 1/beta
  bool convex_;
  double teacher_norm_;
  double label_norm_;
  std::vector<std::vector<double>> points_;
};

}  // namespace

std::unique_ptr<TrainingOutput> sampled_output(const AttentionIndexed& model, TrainingLoss loss,
                                               std::uint64_t seed) {
  return std::make_unique<SampledOutput>(model, loss, seed);
}

std::unique_ptr<TrainingOutput> training_output(const AttentionIndexed& model, TrainingLoss loss,
                                                std::uint64_t seed) {
  if (model.tokens > 2) return sampled_output(model, loss, seed);
  if (model.channel == &hardmax_channel()) return pair_hardmax_output(model);
  return pair_softmax_output(model, loss);
}

}  // namespace onset::aim
