#include "smi/model/attention_label.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numerics/linear_algebra/dense.hpp"

namespace onset::smi {
namespace {

/// Finds h up to its sign from the logarithms of an attention matrix [smi 4], with the pair of
/// tokens that are furthest apart as reference. Returns false when digits were lost (an entry is
/// 0).
bool label_of_matrix(double beta, std::span<const double> y, std::span<double> h) {
  const std::size_t m = h.size();
  const auto score = [&](std::size_t i, std::size_t j) {
    return (std::log(y[i * m + i]) - std::log(y[i * m + j])) / beta;  // h_i (h_i - h_j)
  };
  std::size_t first = 0, second = 1;
  double widest = -1.0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double square = score(i, j) + score(j, i);
      if (!std::isfinite(square)) return false;
      if (square > widest) {
        widest = square;
        first = i;
        second = j;
      }
    }
  }
  const double distance = std::sqrt(widest);
  if (!(distance > 0.0)) return false;
  h[first] = score(first, second) / distance;
  h[second] = -score(second, first) / distance;
  const std::size_t base = std::abs(h[first]) > std::abs(h[second]) ? first : second;
  for (std::size_t k = 0; k < m; ++k) {
    if (k != first && k != second) h[k] = h[base] - score(base, k) / h[base];
  }
  return true;
}

/// Finds u of several directions up to a rotation, and what the label does not show as 0, from the
/// logarithms of an attention matrix: distances of the tokens' vectors give them around their mean
/// by an eigenvalue problem, and scores where the mean is [smi 99]. Returns false when digits were
/// lost.
bool vectors_of_matrix(double beta, std::span<const double> y, std::size_t m, std::span<double> u) {
  const auto score = [&](std::size_t i, std::size_t j) {
    return (std::log(y[i * m + i]) - std::log(y[i * m + j])) / beta;  // u_i (u_i - u_j)
  };
  std::vector<double> gram(m * m, 0.0), mean(m, 0.0), values(m);
  double all = 0.0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      gram[i * m + j] = score(i, j) + score(j, i);
      mean[i] += gram[i * m + j] / static_cast<double>(m);
    }
    all += mean[i] / static_cast<double>(m);
  }
  if (!std::isfinite(all)) return false;
  for (std::size_t k = 0; k < m * m; ++k) {
    gram[k] = -0.5 * (gram[k] - mean[k / m] - mean[k % m] + all);
  }
  numerics::symmetric_eigen(m, gram, values);
  std::fill(u.begin(), u.end(), 0.0);
  const std::size_t seen = std::min(u.size() / m, m - 1);
  const auto vector = [&](std::size_t i, std::size_t p) {
    const double value = std::max(values[m - 1 - p], 0.0);
    return std::sqrt(value) * gram[(m - 1 - p) * m + i];
  };
  for (std::size_t p = 0; p < seen; ++p) {
    double shift = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        double rest = score(i, j);
        for (std::size_t q = 0; q < seen; ++q) {
          rest -= vector(i, q) * (vector(i, q) - vector(j, q));
        }
        shift += (vector(i, p) - vector(j, p)) * rest;
      }
    }
    const double value = values[m - 1 - p];
    shift = value > 0.0 ? shift / (2.0 * static_cast<double>(m) * value) : 0.0;
    for (std::size_t i = 0; i < m; ++i) u[p * m + i] = vector(i, p) + shift;
  }
  return true;
}

}  // namespace

std::string attention_fault(std::span<const double> matrix, std::size_t tokens) {
  constexpr double rounding = 1e-6;
  for (std::size_t r = 0; r < tokens; ++r) {
    double sum = 0.0;
    for (std::size_t k = 0; k < tokens; ++k) {
      const double x = matrix[r * tokens + k];
      if (x < 0.0 || x > 1.0) return "has an entry outside 0 to 1";
      if (x == 0.0 || x == 1.0) return "has entries rounded to 0 or 1, so that its label is lost";
      sum += x;
    }
    if (std::abs(sum - 1.0) > rounding) return "has a row that does not sum to 1";
  }
  return {};
}

AttentionLabel::AttentionLabel(const DeepAttention& model)
    : last_{.layers = 1,
            .tokens = model.tokens,
            .beta = model.beta,
            .rank = {model.rank_of(model.layers - 1)}},
      tokens_(static_cast<std::size_t>(model.tokens)) {}

void AttentionLabel::write(std::span<const double> label, std::span<double> observed) const {
  attention_matrix(last_, label, observed);
}

std::string AttentionLabel::read(std::span<const double> observed, std::span<double> label) const {
  std::string fault = attention_fault(observed, tokens_);
  const bool alone = last_.rank_of(0) == 1;
  if (fault.empty() && !(alone ? label_of_matrix(last_.beta, observed, label)
                               : vectors_of_matrix(last_.beta, observed, tokens_, label))) {
    fault = "is none of this model: its scores are not those of one direction";
  }
  if (fault.empty()) return {};
  return fault + "; allowed: positive rows that sum to 1, or the labels themselves in H.npy";
}

void AttentionLabel::choose_representative(std::span<double> label) const {
  if (label[0] >= 0.0) return;
  for (double& x : label) x = -x;
}

}  // namespace onset::smi
