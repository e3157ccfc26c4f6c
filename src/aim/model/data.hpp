#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aim/model/attention_indexed.hpp"
#include "onset/core/context.hpp"

namespace onset::aim {

/// Index of the score (a, b), a <= b, among the T (T + 1) / 2 scores of a sample.
[[nodiscard]] constexpr std::size_t score_index(std::size_t a, std::size_t b, std::size_t tokens) {
  return a * tokens - a * (a + 1) / 2 + b;
}

/// What a learner sees. The channel says what the numbers of `labels` are, n times
/// Channel::label_shape of them.
struct Dataset {
  std::size_t samples = 0;
  std::size_t tokens = 0;
  std::size_t dim = 0;
  std::vector<double> inputs;  ///< n x T x d
  std::vector<double> labels;

  /// The first `count` samples, at least 1 and at most all.
  [[nodiscard]] Dataset first(std::size_t count) const;
};

/// The matrix behind the labels.
struct Teacher {
  std::size_t dim = 0;
  std::size_t width = 0;
  std::vector<double> weights;  ///< W, d x r
  std::vector<double> matrix;   ///< S = W W^T / sqrt(r d), d x d
};

/// Width r = round(rho d), at least 1.
[[nodiscard]] std::size_t width_of(double rho, std::size_t dim);
/// n = round(alpha d^2), at least 1.
[[nodiscard]] std::size_t samples_of(double alpha, std::size_t dim);

/// S = W W^T / sqrt(r d) for W of size d x r [aim 1].
[[nodiscard]] std::vector<double> score_matrix(const std::vector<double>& weights, std::size_t dim,
                                               std::size_t width, const Context& context);

/// Draws a teacher with standard normal weights; `index` tells runs apart. It is for Wishart priors
/// only.
[[nodiscard]] Teacher sample_teacher(const AttentionIndexed& model, std::size_t dim,
                                     std::uint64_t seed, std::uint64_t index,
                                     const Context& context);
/// What data are for: those that are trained on and those that predictions are tried on share no
/// random numbers.
enum class DataUse { training, test };

/// Draws Gaussian tokens and the teacher's labels. It takes 8 n T d bytes, and twice that while it
/// runs.
[[nodiscard]] Dataset sample_data(const AttentionIndexed& model, const Teacher& teacher,
                                  std::size_t samples, std::uint64_t seed, std::uint64_t index,
                                  const Context& context, DataUse use = DataUse::training);

/// Scores h_ab = (x_a^T S x_b - delta_ab Tr S) / sqrt(d) of all samples, n x T (T + 1) / 2 [aim 1].
/// `products` is n T x d scratch: it holds X S afterwards.
void scores_of(const Dataset& data, const std::vector<double>& matrix,
               std::vector<double>& products, std::vector<double>& scores, const Context& context);

/// ||A - B||_F^2 / d.
[[nodiscard]] double squared_distance(const std::vector<double>& a, const std::vector<double>& b,
                                      std::size_t dim);

}  // namespace onset::aim
