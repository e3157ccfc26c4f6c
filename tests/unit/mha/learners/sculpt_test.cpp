#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mha/learners/crude/crude_projection.hpp"
#include "mha/learners/sculpt/least_inflation.hpp"
#include "mha/learners/sculpt/row_fit.hpp"
#include "mha/learners/sculpt/slabs.hpp"
#include "mha/linear_algebra/dense.hpp"
#include "numerics/linear_algebra/matrix_equations.hpp"
#include "numerics/linear_algebra/singular_values.hpp"
#include "support/contexts.hpp"
#include "support/tolerances.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::law_of;
using testing::sum_of_w;
using testing::use_all;

/// Attention of every head on one row, by definition.
Matrix attentions(const Layer& layer, const Matrix& x, Index a) {
  Matrix out(layer.heads, x.rows());
  for (int i = 0; i < layer.heads; ++i) {
    const Eigen::Map<const Matrix> theta(layer.theta_of(i).data(), layer.dim, layer.dim);
    Eigen::RowVectorXd p = x.row(a) * theta * x.transpose();
    p = (p.array() - p.maxCoeff()).exp();
    out.row(i) = p / p.sum();
  }
  return out;
}

double agreement_constant(const Layer& layer, const Matrix& x) {
  const Index free = x.rows() - 1;
  const Matrix m = x.topRows(free).rowwise() - x.row(free);
  Matrix s(free * layer.heads, x.cols());
  for (int i = 0; i < layer.heads; ++i) {
    s.middleRows(i * free, free) =
        m * Eigen::Map<const Matrix>(layer.w_of(i).data(), layer.dim, layer.dim);
  }
  return numerics::singular_values(view(s)).back();
}

TEST(MhaRowFit, ASmallResidualBoundsTheDisagreementOfEveryHead) {
  // Lemma 1 as a property: with the true sum of projections, |pi_i - pi| <= r / sigma for all
  // heads.
  int tight = 0;
  for (const auto& [heads, tokens] : {std::pair{2, 2}, {2, 3}, {3, 3}, {2, 4}}) {
    auto drawn = draw(law_of(heads, 8, tokens, 2.0), 300, 11);
    use_all(drawn);
    const Matrix w = sum_of_w(drawn.truth);
    RowFit row(drawn.sample.tokens(), 8);
    for (std::size_t n = 0; n < drawn.sample.size(); ++n) {
      const Matrix x = tokens_of(drawn.sample, n, n + 1);
      const Matrix outputs = x * w;
      if (!row.set_example(outputs.data())) continue;
      const double sigma = agreement_constant(drawn.truth, x);
      for (Index a = 0; a < tokens; ++a) {
        row.fit(drawn.sample.y(n) + a * 8);
        const Matrix p = attentions(drawn.truth, x, a);
        const Eigen::Map<const Eigen::RowVectorXd> fitted(row.attention().data(), tokens);
        for (int i = 0; i < heads; ++i) {
          const double off = (p.row(i) - fitted).head(tokens - 1).norm();
          EXPECT_LE(off * sigma, row.residual() + 1e-12);
          tight += off * sigma > 0.3 * row.residual() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(tight, 100);  // the bound is no formality
}

TEST(MhaRowFit, IsTheLeastSquaresSolution) {
  auto drawn = draw(law_of(2, 7, 4, 2.0), 40, 12);
  use_all(drawn);
  const Matrix w = sum_of_w(drawn.truth) + 0.1 * Matrix::Identity(7, 7);
  RowFit row(4, 7);
  for (std::size_t n = 0; n < drawn.sample.size(); ++n) {
    const Matrix x = tokens_of(drawn.sample, n, n + 1);
    const Matrix outputs = x * w;
    if (!row.set_example(outputs.data())) continue;
    const Eigen::MatrixXd design = (outputs.topRows(3).rowwise() - outputs.row(3)).transpose();
    for (Index a = 0; a < 4; ++a) {
      row.fit(drawn.sample.y(n) + a * 7);
      const Vector target =
          Eigen::Map<const Vector>(drawn.sample.y(n) + a * 7, 7) - outputs.row(3).transpose();
      const Vector best = numerics::least_squares(design, target);
      for (Index b = 0; b < 3; ++b) {
        EXPECT_NEAR(row.attention()[static_cast<std::size_t>(b)], best[b],
                    tolerance::magnified_roundings);
      }
      EXPECT_NEAR(row.residual(), (target - design * best).norm(), tolerance::many_roundings);
    }
  }
}

TEST(MhaSlabs, HoldForEveryHeadAtTheToleranceOfTheLemma) {
  auto drawn = draw(law_of(2, 8, 3, 2.0), 20000, 13);
  use_all(drawn);
  const std::vector<Slab> slabs = sculpt(drawn.sample, sum_of_w(drawn.truth), 300, {});
  ASSERT_EQ(slabs.size(), 300U);
  RowFit row(3, 8);
  const Matrix w = sum_of_w(drawn.truth);
  int proved = 0;
  for (const Slab& slab : slabs) {
    const Matrix x = tokens_of(drawn.sample, slab.example, slab.example + 1);
    const Matrix outputs = x * w;
    ASSERT_TRUE(row.set_example(outputs.data()));
    row.fit(drawn.sample.y(slab.example) + slab.query * 8);
    const double delta = std::sqrt(3.0) * row.residual() / agreement_constant(drawn.truth, x);
    const double key = row.attention()[slab.key];
    const double reference = row.attention()[slab.reference];
    EXPECT_NEAR(slab.centre, std::log(key / reference), tolerance::thousands_of_roundings);
    if (delta >= std::min(key, reference)) continue;
    ++proved;
    const double width = -std::log1p(-delta / key) - std::log1p(-delta / reference);
    for (int i = 0; i < 2; ++i) {
      const double value = slab_value(drawn.sample, slab, drawn.truth.theta_of(i).data());
      EXPECT_LE(std::abs(value - slab.centre), width + 1e-10);
    }
  }
  EXPECT_GT(proved, 200);
}

TEST(MhaSlabs, AreTheSameForAnyNumberOfThreads) {
  auto drawn = draw(law_of(2, 8, 3, 2.0), 20000, 14);
  use_all(drawn);
  const Matrix w = crude_projection(drawn.sample, {});
  const auto one = sculpt(drawn.sample, w, 200, onset::testing::with_threads(1));
  const auto two = sculpt(drawn.sample, w, 200, onset::testing::with_threads(4));
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t s = 0; s < one.size(); ++s) {
    EXPECT_EQ(one[s].example, two[s].example);
    EXPECT_EQ(one[s].centre, two[s].centre);
  }
}

TEST(MhaInflation, TheLeastInflationIsReachedByItsPoint) {
  auto drawn = draw(law_of(2, 6, 2, 2.0), 4000, 16);
  use_all(drawn);
  const auto slabs = sculpt(drawn.sample, crude_projection(drawn.sample, {}), 108, {});
  const Body body = make_body(drawn.sample, slabs, slabs.size());
  const Inflation least = least_inflation(body, {});
  ASSERT_GT(least.least, 0.0);
  const double reached = (body.normals * least.point - body.centre)
                             .cwiseAbs()
                             .cwiseQuotient(body.tolerance)
                             .maxCoeff();
  EXPECT_NEAR(reached, least.least, 1e-6 * least.least);
}

TEST(MhaInflation, ABodyWithoutSlabsHasNoInflation) {
  const Body empty{Matrix(0, 4), Vector(0), Vector(0)};
  EXPECT_LT(least_inflation(empty, {}).least, 0.0);
}

}  // namespace
}  // namespace onset::mha
