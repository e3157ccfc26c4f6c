#include "aim/model/token_products.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "numerics/random/stream.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

/// Sums of a few hundred terms of size 1, in another order.
constexpr double rounding = 1e-11;
/// The same in single precision, for sums of numbers of order ten.
constexpr double single_rounding = 1e-4;

std::vector<double> normals(std::size_t count, std::uint64_t index) {
  std::vector<double> out(count);
  numerics::Stream(7, "token products", index).normal(out);
  return out;
}

std::vector<double> symmetric_normals(std::size_t dim, std::uint64_t index) {
  std::vector<double> out = normals(dim * dim, index);
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < i; ++j) out[i * dim + j] = out[j * dim + i];
  }
  return out;
}

/// Plain loops over samples and pairs, which call work(sample, token a, token b, place).
template <class Work>
void for_pairs(const Dataset& data, Work work) {
  std::size_t place = 0;
  for (std::size_t s = 0; s < data.samples; ++s) {
    const double* x = data.inputs.data() + s * data.tokens * data.dim;
    for (std::size_t a = 0; a < data.tokens; ++a) {
      for (std::size_t b = a; b < data.tokens; ++b)
        work(x + a * data.dim, x + b * data.dim, place++);
    }
  }
}

class TokenProductsOfThree : public ::testing::Test {
 protected:
  static constexpr std::size_t dim = 9;
  const Problem problem_ = draw(model_of("softmax", 3), dim, 0.3);
  const Dataset& data_ = problem_.data;
  const std::size_t pairs_ = data_.samples * 6;
  const Context context_ = {};
  std::unique_ptr<TokenProducts> products_ = token_products(data_, context_);
};

TEST_F(TokenProductsOfThree, PairsAndNormsAreThoseOfPlainLoops) {
  const std::vector<double> matrix = symmetric_normals(dim, 0);
  std::vector<double> found(pairs_);
  products_->pair_products(matrix, found);
  for_pairs(data_, [&](const double* x, const double* y, std::size_t place) {
    double sum = 0.0;
    for (std::size_t i = 0; i < dim; ++i) {
      for (std::size_t j = 0; j < dim; ++j) sum += x[i] * matrix[i * dim + j] * y[j];
    }
    EXPECT_NEAR(found[place], sum, rounding * dim);
  });
  std::vector<double> norms(data_.samples * 3);
  products_->squared_norms(norms);
  double sum = 0.0;
  for (std::size_t i = 0; i < dim; ++i) sum += std::pow(data_.inputs[2 * dim + i], 2);
  EXPECT_NEAR(norms[2], sum, rounding);
}

TEST_F(TokenProductsOfThree, WeightedProductsAreSymmetricSums) {
  const std::vector<double> weights = normals(pairs_, 1);
  std::vector<double> found(dim * dim);
  products_->weighted_products(weights, found);
  std::vector<double> sums(dim * dim, 0.0);
  for_pairs(data_, [&](const double* x, const double* y, std::size_t place) {
    for (std::size_t i = 0; i < dim; ++i) {
      for (std::size_t j = 0; j < dim; ++j) {
        sums[i * dim + j] += 0.5 * weights[place] * (x[i] * y[j] + y[i] * x[j]);
      }
    }
  });
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(found[i], sums[i], rounding);
}

// The sum of g_ab h_ab is <sum of g_ab Z_ab, S> for every S, and h is that of plain loops.
TEST_F(TokenProductsOfThree, ScoresAndBackProjectionsAreAdjoint) {
  const std::vector<double> matrix = symmetric_normals(dim, 3);
  const std::vector<double> weights = normals(pairs_, 4);
  double trace = 0.0;
  for (std::size_t i = 0; i < dim; ++i) trace += matrix[i * (dim + 1)];
  std::vector<double> scores(pairs_);
  scores_of(*products_, matrix, 3, scores);
  double of_scores = 0.0;
  for_pairs(data_, [&](const double* x, const double* y, std::size_t place) {
    double sum = x == y ? -trace : 0.0;
    for (std::size_t i = 0; i < dim; ++i) {
      for (std::size_t j = 0; j < dim; ++j) sum += x[i] * matrix[i * dim + j] * y[j];
    }
    EXPECT_NEAR(scores[place], sum / std::sqrt(dim), rounding * dim);
    of_scores += weights[place] * scores[place];
  });
  const std::vector<double> back = back_projection(*products_, weights, data_);
  double of_matrices = 0.0;
  for (std::size_t k = 0; k < back.size(); ++k) of_matrices += back[k] * matrix[k];
  EXPECT_NEAR(of_matrices, of_scores, rounding * dim * dim);
}

TEST_F(TokenProductsOfThree, AMatrixIsMadeOfItsEigenvalues) {
  const std::vector<double> matrix = symmetric_normals(dim, 2);
  std::vector<double> values(dim);
  products_->eigenvalues(matrix, values);
  EXPECT_LT(values.front(), values.back());
  std::vector<double> again(dim * dim);
  products_->with_eigenvalues(values, again);
  for (std::size_t i = 0; i < matrix.size(); ++i) EXPECT_NEAR(again[i], matrix[i], rounding);
  for (double& value : values) value *= value;
  products_->with_eigenvalues(values, again);
  double square = 0.0;
  for (std::size_t j = 0; j < dim; ++j) square += matrix[j] * matrix[j];
  EXPECT_NEAR(again[0], square, rounding);
}

TEST_F(TokenProductsOfThree, SinglePrecisionGivesTheSameToItsRounding) {
  const auto all = [&](bool single) {
    products_->allow_single(single);
    std::vector<std::vector<double>> found{std::vector<double>(pairs_),
                                           std::vector<double>(dim * dim), std::vector<double>(dim),
                                           std::vector<double>(dim * dim)};
    products_->pair_products(symmetric_normals(dim, 0), found[0]);
    products_->weighted_products(normals(pairs_, 1), found[1]);
    products_->eigenvalues(symmetric_normals(dim, 2), found[2]);
    products_->with_eigenvalues(normals(dim, 5), found[3]);
    return found;
  };
  const auto twice = all(false);
  const auto once = all(true);
  for (std::size_t k = 0; k < twice.size(); ++k) {
    EXPECT_NE(once[k], twice[k]);
    for (std::size_t i = 0; i < twice[k].size(); ++i) {
      EXPECT_NEAR(once[k][i], twice[k][i], single_rounding) << k << ' ' << i;
    }
  }
  EXPECT_EQ(all(false), twice);
}

TEST_F(TokenProductsOfThree, StudentsHaveTheirProductsAndSlopes) {
  constexpr std::size_t width = 4;
  constexpr std::size_t count = 2;
  const std::vector<double> weights = normals(count * dim * width, 3);
  const std::vector<double> slopes = normals(count * pairs_, 4);
  const auto weighted_sum = [&](const std::vector<double>& w) {
    std::vector<double> found(count * pairs_);
    products_->student_products(w, width, count, found);
    double sum = 0.0;
    for (std::size_t i = 0; i < found.size(); ++i) sum += slopes[i] * found[i];
    return sum;
  };
  const double here = weighted_sum(weights);
  std::vector<double> gradients(weights.size());
  products_->student_gradients(slopes, gradients);
  // The sum is quadratic in the weights: Euler's identity, and a central difference is exact.
  double euler = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) euler += 0.5 * gradients[i] * weights[i];
  EXPECT_NEAR(euler, here, rounding * count * pairs_);
  for (const std::size_t i : {std::size_t{0}, dim * width - 1, dim * width + 5}) {
    std::vector<double> up = weights;
    std::vector<double> down = weights;
    up[i] += 1.0;
    down[i] -= 1.0;
    EXPECT_NEAR(0.5 * (weighted_sum(up) - weighted_sum(down)), gradients[i],
                rounding * count * pairs_);
  }
}

}  // namespace
}  // namespace onset::aim
