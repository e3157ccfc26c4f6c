#include "numerics/linear_algebra/symmetric_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

/// Larger than a block, and not a multiple of one.
constexpr std::size_t rows = 301, size = 150;

std::vector<double> normals(std::size_t count, std::uint64_t index) {
  std::vector<double> out(count);
  Stream(5, "symmetric products test", index).normal(out);
  return out;
}

std::vector<float> singles(const std::vector<double>& from) {
  return {from.begin(), from.end()};
}

/// Sums of `terms` products of standard normals err by a few roundings each.
template <class Real>
double tolerance(std::size_t terms) {
  return 8.0 * static_cast<double>(terms) *
         static_cast<double>(std::numeric_limits<Real>::epsilon());
}

TEST(SymmetricProducts, ATriangleIsMultipliedAsAnyMatrix) {
  const auto x = normals(rows * size, 0);
  auto u = normals(size * size, 1);
  for (std::size_t i = 0; i < size; ++i)
    std::fill_n(u.begin() + static_cast<std::ptrdiff_t>(i * size), i, 0.0);
  std::vector<float> out(rows * size, 7.0F);
  triangular_product(singles(x).data(), rows, size, singles(u).data(), out.data());
  for (std::size_t r = 0; r < rows; r += 7) {
    for (std::size_t j = 0; j < size; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k <= j; ++k) sum += x[r * size + k] * u[k * size + j];
      ASSERT_NEAR(static_cast<double>(out[r * size + j]), sum, tolerance<float>(size))
          << r << ' ' << j;
    }
  }
}

template <class Real>
void expect_upper_product() {
  const auto a = normals(rows * size, 2);
  const auto b = normals(rows * size, 3);
  const std::vector<Real> x(a.begin(), a.end());
  const std::vector<Real> y(b.begin(), b.end());
  std::vector<Real> sum(size * size, Real{1});
  add_upper_product(x.data(), y.data(), rows, size, sum.data());
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i; j < size; ++j) {
      double expected = 1.0;
      for (std::size_t r = 0; r < rows; ++r) expected += a[r * size + i] * b[r * size + j];
      ASSERT_NEAR(static_cast<double>(sum[i * size + j]), expected, tolerance<Real>(rows))
          << i << ' ' << j;
    }
  }
}

TEST(SymmetricProducts, TheUpperHalfOfAProductIsAddedToASum) {
  expect_upper_product<float>();
  expect_upper_product<double>();
}

TEST(SymmetricProducts, EigenvectorsInSinglePrecisionRebuildTheMatrix) {
  constexpr std::size_t n = 60;
  std::vector<double> matrix = normals(n * n, 4);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) matrix[i * n + j] = matrix[j * n + i];
  }
  std::vector<float> vectors = singles(matrix);
  std::vector<float> values(n);
  symmetric_eigen(n, vectors, values);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += static_cast<double>(values[k]) * static_cast<double>(vectors[k * n + i]) *
               static_cast<double>(vectors[k * n + j]);
      }
      ASSERT_NEAR(sum, matrix[i * n + j], tolerance<float>(n));
    }
  }
}

TEST(SymmetricProducts, AMatrixThatIsNotFiniteIsRefused) {
  std::vector<float> bad(4, std::numeric_limits<float>::quiet_NaN());
  std::vector<float> values(2);
  EXPECT_THROW(symmetric_eigen(2, bad, values), InvalidArgument);
  std::vector<float> none;
  symmetric_eigen(0, none, none);
}

}  // namespace
}  // namespace onset::numerics
