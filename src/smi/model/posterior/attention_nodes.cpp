#include "smi/model/posterior/attention_nodes.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/simd/clones.hpp"
#include "numerics/simd/vector_math.hpp"

namespace onset::smi {
namespace {

/// The least pivot, below the rounding error of entries of order 1.
constexpr double min_pivot = 1e-18;

/// scores[i][j] = beta sum_p u[p][i] u[p][j], the largest of each row subtracted.
ONSET_CLONES void attention_scores(double beta, const double* u, std::size_t rank, std::size_t m,
                                   std::size_t n, double* scores) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      double* out = scores + (i * m + j) * n;
      const double* a = u + i * n;
      const double* b = u + j * n;
      for (std::size_t k = 0; k < n; ++k) out[k] = beta * a[k] * b[k];
      for (std::size_t p = 1; p < rank; ++p) {
        a += m * n;
        b += m * n;
        for (std::size_t k = 0; k < n; ++k) out[k] += beta * a[k] * b[k];
      }
    }
    double* row = scores + i * m * n;
    for (std::size_t k = 0; k < n; ++k) {
      double top = row[k];
      for (std::size_t j = 1; j < m; ++j) top = row[j * n + k] > top ? row[j * n + k] : top;
      for (std::size_t j = 0; j < m; ++j) row[j * n + k] -= top;
    }
  }
}

/// Turns rows of exponentials into A + skip.
ONSET_CLONES void normalise_rows(double skip, std::size_t m, std::size_t n, double* a) {
  for (std::size_t i = 0; i < m; ++i) {
    double* row = a + i * m * n;
    for (std::size_t k = 0; k < n; ++k) {
      double sum = row[k];
      for (std::size_t j = 1; j < m; ++j) sum += row[j * n + k];
      const double scale = 1.0 / sum;
      for (std::size_t j = 0; j < m; ++j) row[j * n + k] *= scale;
      row[i * n + k] += skip;
    }
  }
}

/// Factorises in place, with L below the diagonal and U on and above it; `det` is multiplied by the
/// pivots.
ONSET_CLONES void eliminate(std::size_t m, std::size_t n, double* a, double* det) {
  for (std::size_t p = 0; p < m; ++p) {
    double* pivot = a + (p * m + p) * n;
    // Pivots are positive up to rounding, which matters where tokens are so alike that rows of A
    // agree.
    for (std::size_t k = 0; k < n; ++k) pivot[k] = pivot[k] > min_pivot ? pivot[k] : min_pivot;
    for (std::size_t k = 0; k < n; ++k) det[k] *= pivot[k];
    for (std::size_t i = p + 1; i < m; ++i) {
      double* factor = a + (i * m + p) * n;
      for (std::size_t k = 0; k < n; ++k) factor[k] /= pivot[k];
      for (std::size_t j = p + 1; j < m; ++j) {
        double* target = a + (i * m + j) * n;
        const double* source = a + (p * m + j) * n;
        for (std::size_t k = 0; k < n; ++k) target[k] -= factor[k] * source[k];
      }
    }
  }
}

/// x <- U^{-1} L^{-1} x for `m` rows.
ONSET_CLONES void back_substitute(const double* lu, std::size_t m, std::size_t n, double* x) {
  for (std::size_t i = 1; i < m; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double* l = lu + (i * m + j) * n;
      for (std::size_t k = 0; k < n; ++k) x[i * n + k] -= l[k] * x[j * n + k];
    }
  }
  for (std::size_t i = m; i-- > 0;) {
    for (std::size_t j = i + 1; j < m; ++j) {
      const double* u = lu + (i * m + j) * n;
      for (std::size_t k = 0; k < n; ++k) x[i * n + k] -= u[k] * x[j * n + k];
    }
    const double* pivot = lu + (i * m + i) * n;
    for (std::size_t k = 0; k < n; ++k) x[i * n + k] /= pivot[k];
  }
}

/// x <- L U x for `m` rows: row i of U x needs rows from i on, row i of L (U x) those up to i.
ONSET_CLONES void multiply(const double* lu, std::size_t m, std::size_t n, double* x) {
  for (std::size_t i = 0; i < m; ++i) {
    const double* pivot = lu + (i * m + i) * n;
    for (std::size_t k = 0; k < n; ++k) x[i * n + k] *= pivot[k];
    for (std::size_t j = i + 1; j < m; ++j) {
      const double* u = lu + (i * m + j) * n;
      for (std::size_t k = 0; k < n; ++k) x[i * n + k] += u[k] * x[j * n + k];
    }
  }
  for (std::size_t i = m; i-- > 1;) {
    for (std::size_t j = 0; j < i; ++j) {
      const double* l = lu + (i * m + j) * n;
      for (std::size_t k = 0; k < n; ++k) x[i * n + k] += l[k] * x[j * n + k];
    }
  }
}

}  // namespace

AttentionNodes::AttentionNodes(const DeepAttention& model, std::size_t most)
    : model_(model),
      tokens_(static_cast<std::size_t>(model.tokens)),
      root_(model.token_root()),
      factor_(static_cast<std::size_t>(model.layers - 1),
              std::vector<double>(tokens_ * tokens_ * most)),
      log_det_(most) {
  for (std::size_t i = 0; i < tokens_; ++i) log_det_root_ += std::log(root_[i * tokens_ + i]);
}

/// fields <- R fields, token by token; R is lower triangular.
void AttentionNodes::mix_fields(double* fields, std::size_t rows) const {
  if (model_.token_covariance.empty()) return;
  for (std::size_t first = 0; first < rows; first += tokens_) {
    double* x = fields + first * count_;
    for (std::size_t i = tokens_; i-- > 0;) {
      for (std::size_t k = 0; k < count_; ++k) x[i * count_ + k] *= root_[i * tokens_ + i];
      for (std::size_t j = 0; j < i; ++j) {
        const double r = root_[i * tokens_ + j];
        for (std::size_t k = 0; k < count_; ++k) x[i * count_ + k] += r * x[j * count_ + k];
      }
    }
  }
}

void AttentionNodes::push(const double* inner, std::size_t count) {
  count_ = count;
  const FieldShape shape = model_.shape();
  const std::size_t rows = shape.first(shape.blocks() - 1);
  fields_.assign(inner, inner + rows * count);
  mix_fields(fields_.data(), rows);
  std::fill_n(log_det_.data(), count, 1.0);
  for (int layer = 0; layer + 1 < model_.layers; ++layer) {
    const auto l = static_cast<std::size_t>(layer);
    factor_layer(layer, fields_.data() + shape.first(l) * count, shape.rank[l]);
    for (std::size_t row = shape.first(l + 1); row < rows; row += tokens_) {
      multiply(factor_[l].data(), tokens_, count, fields_.data() + row * count);
    }
  }
  numerics::simd::log(std::span(log_det_).first(count), std::span(log_det_).first(count));
  for (std::size_t k = 0; k < count; ++k) log_det_[k] += log_det_root_;
}

void AttentionNodes::factor_layer(int layer, const double* u, int rank) {
  std::vector<double>& a = factor_[static_cast<std::size_t>(layer)];
  const auto entries = std::span(a).first(tokens_ * tokens_ * count_);
  attention_scores(model_.beta, u, static_cast<std::size_t>(rank), tokens_, count_, a.data());
  numerics::simd::exp(entries, entries);
  normalise_rows(model_.skip_of(layer), tokens_, count_, a.data());
  eliminate(tokens_, count_, a.data(), log_det_.data());
}

void AttentionNodes::solve(std::span<const double> u, double* out) {
  for (std::size_t t = 0; t < tokens_; ++t) std::fill_n(out + t * count_, count_, u[t]);
  for (std::size_t l = factor_.size(); l-- > 0;) {
    back_substitute(factor_[l].data(), tokens_, count_, out);
  }
  if (model_.token_covariance.empty()) return;
  for (std::size_t i = 0; i < tokens_; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double r = root_[i * tokens_ + j];
      for (std::size_t k = 0; k < count_; ++k) out[i * count_ + k] -= r * out[j * count_ + k];
    }
    for (std::size_t k = 0; k < count_; ++k) out[i * count_ + k] /= root_[i * tokens_ + i];
  }
}

void AttentionNodes::apply(std::span<const double> x, double* out) {
  for (std::size_t t = 0; t < tokens_; ++t) std::fill_n(out + t * count_, count_, x[t]);
  mix_fields(out, tokens_);
  for (const auto& lu : factor_) multiply(lu.data(), tokens_, count_, out);
}

void AttentionNodes::matrix(double* out) {
  std::vector<double> column(tokens_ * count_);
  std::vector<double> unit(tokens_);
  for (std::size_t j = 0; j < tokens_; ++j) {
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[j] = 1.0;
    apply(unit, column.data());
    for (std::size_t i = 0; i < tokens_; ++i) {
      std::copy_n(column.data() + i * count_, count_, out + (i * tokens_ + j) * count_);
    }
  }
}

}  // namespace onset::smi
