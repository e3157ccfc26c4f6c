#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "aim/model/data.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// The large products of learners with the tokens of a data set, computed where the tokens are.
/// Pairs (a, b), a <= b, are ordered by score_index.
class TokenProducts {
 public:
  virtual ~TokenProducts() = default;

  /// Whether the next products and eigenvectors of message passing may be made in single precision;
  /// devices do not.
  virtual void allow_single(bool /*allowed*/) {}

  /// x_a^T S x_b of all samples, n x T (T + 1) / 2, for a symmetric S of d x d.
  virtual void pair_products(std::span<const double> matrix, std::span<double> out) = 0;
  /// |x_a|^2, n x T.
  virtual void squared_norms(std::span<double> out) = 0;
  /// The sum over samples and pairs of weights_ab (x_a x_b^T + x_b x_a^T)/2, d x d.
  virtual void weighted_products(std::span<const double> weights, std::span<double> out) = 0;

  /// The eigenvalues of a symmetric matrix of d x d, increasing; then the same matrix with others.
  virtual void eigenvalues(std::span<const double> matrix, std::span<double> values) = 0;
  virtual void with_eigenvalues(std::span<const double> values, std::span<double> out) = 0;

  /// (W^T x_a) . (W^T x_b) of all samples for each of `count` students, whose weights of d x width
  /// follow one another: count x n x T (T + 1) / 2.
  virtual void student_products(std::span<const double> weights, std::size_t width,
                                std::size_t count, std::span<double> out) = 0;
  /// The derivatives of the sum of slopes times the last student_products with respect to the
  /// weights, laid out as these are.
  virtual void student_gradients(std::span<const double> slopes, std::span<double> out) = 0;
};

/// The products of a data set, on its device if it has one. The data set and the context must
/// outlive it.
[[nodiscard]] std::unique_ptr<TokenProducts> token_products(const Dataset& data,
                                                            const Context& context);

/// Scores h_ab = (x_a^T S x_b - delta_ab Tr S) / sqrt(d) of all samples, n x T (T + 1) / 2 [aim 1].
void scores_of(TokenProducts& products, const std::vector<double>& matrix, std::size_t tokens,
               std::vector<double>& scores);

/// The sum over samples and scores of g_ab Z_ab, d x d, with <Z_ab, S> = h_ab [aim 28].
[[nodiscard]] std::vector<double> back_projection(TokenProducts& products,
                                                  const std::vector<double>& gradient,
                                                  const Dataset& data);

/// Variances of scores in units of the error of S, n x T (T + 1) / 2: 1 + delta_ab, times |x_a|^2
/// |x_b|^2 / d^2 when norms are taken into account [aim 28].
[[nodiscard]] std::vector<double> relative_variances(TokenProducts& products, const Dataset& data,
                                                     bool norm_aware);

}  // namespace onset::aim
