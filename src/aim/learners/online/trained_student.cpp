#include "aim/learners/online/trained_student.hpp"

#include <cmath>
#include <utility>

#include "aim/limits/flow/matrix_path.hpp"
#include "numerics/linear_algebra/dense.hpp"

namespace onset::aim {
namespace {

using Values = std::vector<double>;
using numerics::MatrixView;

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
  Direct(const FlowModel& model, std::size_t dim, std::uint64_t seed, std::uint64_t run)
      : tokens_(static_cast<std::size_t>(model.labels.tokens)),
        dim_(dim),
        scale_(1.0 / std::sqrt(static_cast<double>(dim_))),
        matrix_(dim_ * dim_, 0.0),
        gathered_(dim_ * dim_, 0.0) {
    if (model.start == StudentStart::gaussian) {
      FlowModel tied = model;
      tied.student = Student::tied;
      matrix_ = Factorised(tied, matrix_start(tied, dim_, seed, run)).matrix();
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

}  // namespace

std::unique_ptr<TrainedStudent> make_student(const FlowModel& model, std::size_t dim,
                                             std::uint64_t seed, std::uint64_t run) {
  if (model.student == Student::direct) return std::make_unique<Direct>(model, dim, seed, run);
  return std::make_unique<Factorised>(model, matrix_start(model, dim, seed, run));
}

}  // namespace onset::aim
