#include "mha/learners/sculpt/row_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/parallel.hpp"

namespace onset::mha {
namespace {

/// A fitted attention may miss the simplex by this much; further out the heads do not agree.
constexpr double simplex_slack = 0.05;
/// Pivots below this share of the largest row mean that tokens coincide.
constexpr double pivot_floor = 1e-8;

double dot(const double* a, const double* b, std::size_t size) {
  double sum = 0.0;
  for (std::size_t c = 0; c < size; ++c) sum += a[c] * b[c];
  return sum;
}

}  // namespace

RowFit::RowFit(std::size_t tokens, std::size_t dim)
    : tokens_(tokens),
      dim_(dim),
      last_(dim),
      basis_((tokens - 1) * dim),
      factor_((tokens - 1) * (tokens - 1)),
      left_(dim),
      attention_(tokens) {}

bool RowFit::set_example(const double* token_outputs) {
  const std::size_t free = tokens_ - 1;
  std::copy_n(token_outputs + free * dim_, dim_, last_.begin());
  double largest = 0.0;
  pivot_ = std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < free; ++b) {
    double* row = &basis_[b * dim_];
    for (std::size_t c = 0; c < dim_; ++c) row[c] = token_outputs[b * dim_ + c] - last_[c];
    largest = std::max(largest, dot(row, row, dim_));
    // Gram-Schmidt: the triangular factor is the Cholesky factor of M W W^T M^T, without squaring.
    for (std::size_t q = 0; q < b; ++q) {
      const double* other = &basis_[q * dim_];
      const double along = dot(row, other, dim_);
      factor_[b * free + q] = along;
      for (std::size_t c = 0; c < dim_; ++c) row[c] -= along * other[c];
    }
    const double length = std::sqrt(dot(row, row, dim_));
    factor_[b * free + b] = length;
    pivot_ = std::min(pivot_, length);
    if (!(pivot_ > pivot_floor * std::sqrt(largest))) return false;
    for (std::size_t c = 0; c < dim_; ++c) row[c] /= length;
  }
  return true;
}

void RowFit::fit(const double* label) {
  const std::size_t free = tokens_ - 1;
  for (std::size_t c = 0; c < dim_; ++c) left_[c] = label[c] - last_[c];
  for (std::size_t b = 0; b < free; ++b) {
    const double* row = &basis_[b * dim_];
    attention_[b] = dot(left_.data(), row, dim_);
    for (std::size_t c = 0; c < dim_; ++c) left_[c] -= attention_[b] * row[c];
  }
  // With k - 1 = d every label is explained, and what is left is rounding.
  residual_ = free < dim_ ? std::sqrt(dot(left_.data(), left_.data(), dim_)) : 0.0;
  // M W = factor * basis, so factor^T pi = coefficients.
  double sum = 0.0;
  for (std::size_t b = free; b-- > 0;) {
    for (std::size_t q = b + 1; q < free; ++q) {
      attention_[b] -= factor_[q * free + b] * attention_[q];
    }
    attention_[b] /= factor_[b * free + b];
    sum += attention_[b];
  }
  attention_[free] = 1.0 - sum;
}

double RowFit::score() const {
  const double least = *std::min_element(attention_.begin(), attention_.end());
  return least >= -simplex_slack ? residual_ / pivot_ : std::numeric_limits<double>::infinity();
}

std::vector<double> row_scores(const Subset& sample, const Matrix& w, const Context& context) {
  const std::size_t tokens = sample.tokens();
  const std::size_t dim = sample.dim();
  std::vector<double> scores(sample.rows(), std::numeric_limits<double>::infinity());
  numerics::parallel_for(context, chunks_of(sample), [&](std::size_t chunk) {
    const std::size_t begin = chunk * subset_chunk;
    const std::size_t end = std::min(sample.size(), begin + subset_chunk);
    const Matrix outputs = tokens_of(sample, begin, end) * w;
    RowFit row(tokens, dim);
    for (std::size_t n = begin; n < end; ++n) {
      if (!row.set_example(outputs.data() + (n - begin) * tokens * dim)) continue;
      for (std::size_t a = 0; a < tokens; ++a) {
        row.fit(sample.y(n) + a * dim);
        scores[n * tokens + a] = row.score();
      }
    }
  });
  return scores;
}

std::vector<std::size_t> smallest_rows(const std::vector<double>& scores, std::size_t count) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < scores.size(); ++r) {
    if (std::isfinite(scores[r])) rows.push_back(r);
  }
  const auto before = [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] < scores[b] : a < b;
  };
  if (rows.size() > count) {
    std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count), rows.end(),
                     before);
    rows.resize(count);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

double residual_of_rows(const Subset& sample, const Matrix& w,
                        const std::vector<std::size_t>& rows) {
  RowFit row(sample.tokens(), sample.dim());
  double sum = 0.0;
  for (const std::size_t r : rows) {
    const std::size_t n = r / sample.tokens();
    const Matrix outputs = tokens_of({sample.examples, {sample.index[n]}}, 0, 1) * w;
    row.set_example(outputs.data());
    row.fit(sample.y(n) + r % sample.tokens() * sample.dim());
    sum += row.residual() * row.residual();
  }
  const std::size_t free = sample.dim() > sample.tokens() ? sample.dim() - sample.tokens() + 1 : 1;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, rows.size() * free)));
}

}  // namespace onset::mha
