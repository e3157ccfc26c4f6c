#include "numerics/linear_algebra/dense.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "numerics/random/stream.hpp"
#include "support/complaint.hpp"

namespace onset::numerics {
namespace {

std::vector<double> normals(std::size_t count, std::uint64_t index) {
  std::vector<double> out(count);
  Stream(5, "linear algebra test", index).normal(out);
  return out;
}

Context with_threads(int threads) {
  Context context;
  context.threads = threads;
  return context;
}

/// Sums of `terms` products of standard normals in any order differ by a few roundings each.
double tolerance(std::size_t terms) {
  return 8.0 * static_cast<double>(terms) * std::numeric_limits<double>::epsilon();
}

/// Larger than a block in both directions, and not a multiple of one.
constexpr std::size_t rows = 301, columns = 203, inner = 150;

TEST(LinearAlgebra, MultiplyIsTheSumOfProducts) {
  const auto a = normals(rows * inner, 0);
  const auto b = normals(inner * columns, 1);
  std::vector<double> out(rows * columns);
  multiply({a.data(), rows, inner}, {b.data(), inner, columns}, out, with_threads(2));
  for (std::size_t i = 0; i < rows; i += 7) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < inner; ++k) sum += a[i * inner + k] * b[k * columns + j];
      ASSERT_NEAR(out[i * columns + j], sum, tolerance(inner)) << i << ' ' << j;
    }
  }
}

TEST(LinearAlgebra, TransposedProductsAreProductsOfTransposes) {
  const auto a = normals(rows * inner, 0);
  const auto b = normals(columns * inner, 1);
  std::vector<double> out(rows * columns);
  multiply_by_transpose({a.data(), rows, inner}, {b.data(), columns, inner}, out, with_threads(2));
  // a^T as a matrix of its own: both ways of cutting transpose_multiply.
  std::vector<double> a_turned(inner * rows);
  std::vector<double> b_turned(inner * columns);
  for (std::size_t k = 0; k < inner; ++k) {
    for (std::size_t i = 0; i < rows; ++i) a_turned[k * rows + i] = a[i * inner + k];
    for (std::size_t j = 0; j < columns; ++j) b_turned[k * columns + j] = b[j * inner + k];
  }
  std::vector<double> tall(rows * columns);
  std::vector<double> wide(rows * columns);
  transpose_multiply({a_turned.data(), inner, rows}, {b_turned.data(), inner, columns}, tall,
                     with_threads(2));
  transpose_multiply({b_turned.data(), inner, columns}, {a_turned.data(), inner, rows}, wide,
                     with_threads(2));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < inner; ++k) sum += a[i * inner + k] * b[j * inner + k];
      ASSERT_NEAR(out[i * columns + j], sum, tolerance(inner));
      ASSERT_NEAR(tall[i * columns + j], sum, tolerance(inner));
      ASSERT_NEAR(wide[j * rows + i], sum, tolerance(inner));
    }
  }
}

TEST(LinearAlgebra, ProductsAreTheSameBitsForAnyNumberOfThreads) {
  const auto a = normals(rows * inner, 0);
  const auto b = normals(rows * columns, 1);
  std::vector<double> one(inner * columns);
  std::vector<double> three(inner * columns);
  transpose_multiply({a.data(), rows, inner}, {b.data(), rows, columns}, one, with_threads(1));
  transpose_multiply({a.data(), rows, inner}, {b.data(), rows, columns}, three, with_threads(3));
  EXPECT_EQ(one, three);
}

TEST(LinearAlgebra, EigenvectorsRebuildTheMatrix) {
  constexpr std::size_t n = 60;
  std::vector<double> matrix = normals(n * n, 2);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) matrix[i * n + j] = matrix[j * n + i];
  }
  std::vector<double> vectors = matrix;
  for (std::size_t i = 1; i < n; ++i) vectors[i * n] = 1e9;  // the lower triangle is not read
  std::vector<double> values(n);
  symmetric_eigen(n, vectors, values);
  for (std::size_t i = 1; i < n; ++i) EXPECT_LE(values[i - 1], values[i]);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < n; ++k)
        sum += values[k] * vectors[k * n + i] * vectors[k * n + j];
      EXPECT_NEAR(sum, matrix[i * n + j], 20.0 * tolerance(n));
    }
  }
}

TEST(LinearAlgebra, ShapesThatDoNotFitAreNamed) {
  const std::vector<double> a(6);
  std::vector<double> out(4);
  EXPECT_THROW(multiply({a.data(), 2, 3}, {a.data(), 2, 3}, out, {}), InvalidArgument);
  EXPECT_THROW(multiply({a.data(), 2, 3}, {a.data(), 3, 2}, std::span(out).first(3), {}),
               InvalidArgument);
  std::vector<double> bad(4, std::numeric_limits<double>::quiet_NaN());
  std::vector<double> values(2);
  EXPECT_THROW(symmetric_eigen(2, bad, values), InvalidArgument);
}

}  // namespace
}  // namespace onset::numerics
