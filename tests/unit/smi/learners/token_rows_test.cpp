#include "smi/learners/token_rows.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "numerics/random/stream.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows normals(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Rows out(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  numerics::Stream(seed, "rows").normal({out.data(), rows * columns});
  return out;
}

// Sums of some thousand numbers of size 1, in another order.
constexpr double rounding = tolerance::many_roundings;

// Rows that fill no group, columns that do not fill the lanes, and one weight or more.
TEST(TokenRows, AreTheProductsOfTheirMatrices) {
  for (const std::size_t rows : {1u, 4u, 11u}) {
    for (const std::size_t dim : {3u, 64u, 512u, 1037u}) {
      for (const std::size_t weights : {1u, 3u}) {
        const Rows x = normals(rows, dim, 1);
        const Rows w = normals(weights, dim, 2);
        const Rows g = normals(weights, rows, 3);
        const Rows before = normals(weights, dim, 4);
        Rows fields(w.rows(), x.rows());
        project_rows(x.data(), rows, dim, w.data(), weights, fields.data());
        const Rows expected = w * x.transpose() / std::sqrt(static_cast<double>(dim));
        EXPECT_LT((fields - expected).cwiseAbs().maxCoeff(), rounding);
        Rows sums = before;
        back_project_rows(x.data(), rows, dim, g.data(), weights, sums.data());
        EXPECT_LT((sums - before - g * x).cwiseAbs().maxCoeff(), rounding);
      }
    }
  }
}

}  // namespace
}  // namespace onset::smi
