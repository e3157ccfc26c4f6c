#include "aim/model/token_products.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <optional>

#include "aim/model/single_products.hpp"
#include "aim/model/weighted_tokens.hpp"
#include "device/tokens.hpp"
#include "numerics/linear_algebra/dense.hpp"
#include "numerics/parallel.hpp"
#include "numerics/zeros.hpp"

namespace onset::aim {
namespace {

/// The number of samples per task.
constexpr std::size_t block = 256;

Eigen::Map<const Eigen::VectorXd> row(const double* start, std::size_t size) {
  return {start, static_cast<Eigen::Index>(size)};
}

class HostProducts final : public TokenProducts {
 public:
  HostProducts(const Dataset& data, const Context& context)
      : data_(data), context_(context), pairs_(data.tokens * (data.tokens + 1) / 2) {}

  void allow_single(bool allowed) override {
    if (!allowed) {
      single_.reset();
    } else if (!single_) {
      single_.emplace(data_, context_);
    }
  }

  void pair_products(std::span<const double> matrix, std::span<double> out) override {
    if (single_) return single_->pair_products(matrix, out);
    const std::size_t tokens = data_.tokens;
    const std::size_t dim = data_.dim;
    if (scratch_.size() != data_.inputs.size()) {
      numerics::lay_zeros(scratch_, data_.inputs.size(), context_);
    }
    numerics::multiply({data_.inputs.data(), data_.samples * tokens, dim},
                       {matrix.data(), dim, dim}, scratch_, context_);
    for_each_sample([&](std::size_t s) {
      pairs(data_.inputs.data() + s * tokens * dim, scratch_.data() + s * tokens * dim, dim,
            out.data() + s * pairs_);
    });
  }

  void squared_norms(std::span<double> out) override {
    for (std::size_t i = 0; i < data_.samples * data_.tokens; ++i) {
      const double* x = data_.inputs.data() + i * data_.dim;
      out[i] = 0.0;
      for (std::size_t j = 0; j < data_.dim; ++j) out[i] += x[j] * x[j];
    }
  }

  void weighted_products(std::span<const double> weights, std::span<double> out) override {
    if (single_) return single_->weighted_products(weights, out);
    sum_weighted({data_.inputs.data(), data_.samples, data_.tokens, data_.dim}, weights, out,
                 context_);
  }

  void eigenvalues(std::span<const double> matrix, std::span<double> values) override {
    if (single_) return single_->eigenvalues(matrix, values);
    vectors_.assign(matrix.begin(), matrix.end());
    numerics::symmetric_eigen(data_.dim, vectors_, values);
  }

  void with_eigenvalues(std::span<const double> values, std::span<double> out) override {
    if (single_) return single_->with_eigenvalues(values, out);
    const std::size_t dim = data_.dim;
    std::vector<double> scaled(vectors_);
    for (std::size_t k = 0; k < dim; ++k) {
      for (std::size_t i = 0; i < dim; ++i) scaled[k * dim + i] *= values[k];
    }
    numerics::transpose_multiply({vectors_.data(), dim, dim}, {scaled.data(), dim, dim}, out,
                                 context_);
  }

  void student_products(std::span<const double> weights, std::size_t width, std::size_t count,
                        std::span<double> out) override {
    const std::size_t rows = data_.samples * data_.tokens;
    width_ = width;
    fields_.resize(count);
    for_each_student(count, [&](std::size_t k, const Context& alone) {
      std::vector<double>& fields = fields_[k];
      fields.resize(rows * width);
      numerics::multiply({data_.inputs.data(), rows, data_.dim},
                         {weights.data() + k * data_.dim * width, data_.dim, width}, fields, alone);
      for (std::size_t s = 0; s < data_.samples; ++s) {
        const double* own = fields.data() + s * data_.tokens * width;
        pairs(own, own, width, out.data() + (k * data_.samples + s) * pairs_);
      }
    });
  }

  void student_gradients(std::span<const double> slopes, std::span<double> out) override {
    const std::size_t tokens = data_.tokens;
    const std::size_t rows = data_.samples * tokens;
    for_each_student(fields_.size(), [&](std::size_t k, const Context& alone) {
      std::vector<double> mixed(rows * width_, 0.0);
      for (std::size_t s = 0; s < data_.samples; ++s) {
        const double* fields = fields_[k].data() + s * tokens * width_;
        const double* slope = slopes.data() + (k * data_.samples + s) * pairs_;
        double* sums = mixed.data() + s * tokens * width_;
        for (std::size_t a = 0; a < tokens; ++a) {
          for (std::size_t b = 0; b < tokens; ++b) {
            const double weight =
                (a == b ? 2.0 : 1.0) * slope[score_index(std::min(a, b), std::max(a, b), tokens)];
            for (std::size_t i = 0; i < width_; ++i) {
              sums[a * width_ + i] += weight * fields[b * width_ + i];
            }
          }
        }
      }
      const std::size_t size = data_.dim * width_;
      numerics::transpose_multiply({data_.inputs.data(), rows, data_.dim},
                                   {mixed.data(), rows, width_}, out.subspan(k * size, size),
                                   alone);
    });
  }

 private:
  /// x_a . y_b for the tokens of one sample.
  void pairs(const double* x, const double* y, std::size_t size, double* out) const {
    for (std::size_t a = 0; a < data_.tokens; ++a) {
      for (std::size_t b = a; b < data_.tokens; ++b) {
        out[score_index(a, b, data_.tokens)] = row(x + a * size, size).dot(row(y + b * size, size));
      }
    }
  }

  template <class Work>
  void for_each_sample(Work work) const {
    numerics::parallel_for(context_, (data_.samples + block - 1) / block, [&](std::size_t task) {
      const std::size_t end = std::min(data_.samples, (task + 1) * block);
      for (std::size_t s = task * block; s < end; ++s) work(s);
    });
  }

  /// Students run in parallel, each of them on one thread.
  template <class Work>
  void for_each_student(std::size_t count, Work work) const {
    Context alone = context_;
    alone.threads = 1;
    numerics::parallel_for(context_, count, [&](std::size_t k) { work(k, alone); });
  }

  const Dataset& data_;
  const Context& context_;
  std::size_t pairs_;
  std::optional<SingleProducts> single_;
  std::vector<double> scratch_;              ///< n T x d
  std::vector<double> vectors_;              ///< the eigenvectors, as rows
  std::vector<std::vector<double>> fields_;  ///< W^T x of each student, n T x width
  std::size_t width_ = 0;
};

class DeviceProducts final : public TokenProducts {
 public:
  explicit DeviceProducts(device::Tokens& tokens) : tokens_(tokens) {}

  void pair_products(std::span<const double> matrix, std::span<double> out) override {
    tokens_.pair_products(matrix, out);
  }
  void squared_norms(std::span<double> out) override { tokens_.squared_norms(out); }
  void weighted_products(std::span<const double> weights, std::span<double> out) override {
    tokens_.weighted_products(weights, out);
  }
  void eigenvalues(std::span<const double> matrix, std::span<double> values) override {
    tokens_.eigenvalues(matrix, values);
  }
  void with_eigenvalues(std::span<const double> values, std::span<double> out) override {
    tokens_.with_eigenvalues(values, out);
  }
  void student_products(std::span<const double> weights, std::size_t width, std::size_t count,
                        std::span<double> out) override {
    tokens_.student_products(weights, width, count, out);
  }
  void student_gradients(std::span<const double> slopes, std::span<double> out) override {
    tokens_.student_gradients(slopes, out);
  }

 private:
  device::Tokens& tokens_;
};

}  // namespace

std::unique_ptr<TokenProducts> token_products(const Dataset& data, const Context& context) {
  if (data.on_device) return std::make_unique<DeviceProducts>(*data.on_device);
  return std::make_unique<HostProducts>(data, context);
}

void scores_of(TokenProducts& products, const std::vector<double>& matrix, std::size_t tokens,
               std::vector<double>& scores) {
  products.pair_products(matrix, scores);
  const auto dim = static_cast<std::size_t>(std::llround(std::sqrt(matrix.size())));
  double trace = 0.0;
  for (std::size_t i = 0; i < dim; ++i) trace += matrix[i * dim + i];
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  const std::size_t pairs = tokens * (tokens + 1) / 2;
  for (std::size_t first = 0; first < scores.size(); first += pairs) {
    for (std::size_t a = 0; a < tokens; ++a) scores[first + score_index(a, a, tokens)] -= trace;
  }
  for (double& score : scores) score *= scale;
}

std::vector<double> back_projection(TokenProducts& products, const std::vector<double>& gradient,
                                    const Dataset& data) {
  const std::size_t tokens = data.tokens;
  const std::size_t dim = data.dim;
  const std::size_t pairs = tokens * (tokens + 1) / 2;
  std::vector<double> matrix(dim * dim);
  products.weighted_products(gradient, matrix);
  std::vector<double> traces(data.samples, 0.0);
  for (std::size_t s = 0; s < data.samples; ++s) {
    for (std::size_t a = 0; a < tokens; ++a) {
      traces[s] += gradient[s * pairs + score_index(a, a, tokens)];
    }
  }
  const double trace = numerics::ordered_sum(traces.data(), traces.size());
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  for (std::size_t i = 0; i < dim; ++i) matrix[i * dim + i] -= trace;
  for (double& x : matrix) x *= scale;
  return matrix;
}

std::vector<double> relative_variances(TokenProducts& products, const Dataset& data,
                                       bool norm_aware) {
  const std::size_t tokens = data.tokens;
  const std::size_t pairs = tokens * (tokens + 1) / 2;
  const auto dim = static_cast<double>(data.dim);
  std::vector<double> norms(data.samples * tokens, dim);
  if (norm_aware) products.squared_norms(norms);
  for (double& norm : norms) norm /= dim;
  std::vector<double> variances(data.samples * pairs);
  for (std::size_t s = 0; s < data.samples; ++s) {
    const double* own = norms.data() + s * tokens;
    for (std::size_t a = 0; a < tokens; ++a) {
      for (std::size_t b = a; b < tokens; ++b) {
        variances[s * pairs + score_index(a, b, tokens)] = (a == b ? 2.0 : 1.0) * own[a] * own[b];
      }
    }
  }
  return variances;
}

}  // namespace onset::aim
