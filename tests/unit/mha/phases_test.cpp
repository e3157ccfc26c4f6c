#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mha/learners/crude_projection.hpp"
#include "mha/learners/features.hpp"
#include "mha/learners/hull.hpp"
#include "mha/learners/inflation.hpp"
#include "mha/learners/margins.hpp"
#include "mha/learners/row_fit.hpp"
#include "mha/learners/separable_fit.hpp"
#include "mha/learners/slabs.hpp"
#include "mha/learners/support.hpp"
#include "mha/learners/trimmed.hpp"
#include "mha/learners/tuple_certificate.hpp"
#include "mha/linear_algebra/decompositions.hpp"
#include "onset/numerics/singular_values.hpp"
#include "support/contexts.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::law_of;
using testing::sum_of_w;
using testing::theta_vector;
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
      const Vector best = least_squares(design, target);
      for (Index b = 0; b < 3; ++b) {
        EXPECT_NEAR(row.attention()[static_cast<std::size_t>(b)], best[b], 1e-10);
      }
      EXPECT_NEAR(row.residual(), (target - design * best).norm(), 1e-11);
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
    EXPECT_NEAR(slab.centre, std::log(key / reference), 1e-12);
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

/// Slabs with centres that a known hull gives exactly, and tolerances of our choice.
Body exact_body(const testing::Drawn& drawn, double tolerance) {
  // Rows whose centre is the same for both heads: a slab normal orthogonal to their difference.
  const Vector first = theta_vector(drawn.truth, 0);
  const Vector apart = theta_vector(drawn.truth, 1) - first;
  std::vector<Slab> slabs;
  for (std::uint32_t n = 0; slabs.size() < 200; ++n) {
    const std::int8_t* x = drawn.sample.x(n);
    const bool same_tokens = std::equal(x, x + drawn.sample.dim(), x + drawn.sample.dim());
    if (!same_tokens) slabs.push_back({n, 0, 1, 0, 0.0, tolerance});
  }
  Body body = make_body(drawn.sample, slabs, slabs.size());
  body.normals -= (body.normals * apart) * apart.transpose() / apart.squaredNorm();
  body.centre = body.normals * first;
  return body;
}

TEST(MhaProxy, InnerProductsWithEveryHeadAreAtLeastItsSquaredNorm) {
  // The point of least norm of a convex body K: <theta, theta*> >= |theta*|^2 for theta in K, with
  // equality on an affine hull.
  auto drawn = draw(law_of(2, 6, 2, 2.0), 2000, 15);
  use_all(drawn);
  for (const double tolerance : {1e-3, 0.1, 0.5}) {
    const Body body = exact_body(drawn, tolerance);
    const Vector proxy = minimum_norm_point(body, 1.0, {});
    ASSERT_EQ(proxy.size(), 36);
    const Vector off = (body.normals * proxy - body.centre).cwiseAbs();
    EXPECT_LE(off.maxCoeff(), tolerance * (1.0 + 1e-6));
    for (int i = 0; i < 2; ++i) {
      EXPECT_GE(proxy.dot(theta_vector(drawn.truth, i)), proxy.squaredNorm() * (1.0 - 1e-6));
    }
    if (tolerance == 1e-3) {
      EXPECT_NEAR(proxy.dot(theta_vector(drawn.truth, 0)) / proxy.squaredNorm(), 1.0, 0.01);
    }
  }
}

TEST(MhaProxy, TheLeastInflationIsReachedByItsPoint) {
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

TEST(MhaProxy, ABodyWithoutSlabsHasNoInflation) {
  const Body empty{Matrix(0, 4), Vector(0), Vector(0)};
  EXPECT_LT(least_inflation(empty, {}).least, 0.0);
}

TEST(MhaHull, IsExactWhereSlabsAre) {
  auto drawn = draw(law_of(2, 6, 2, 2.0), 2000, 17);
  use_all(drawn);
  const Spectrum spectrum(exact_body(drawn, 1e-9));
  EXPECT_EQ(spectrum.heads(), 2);
  EXPECT_GT(spectrum.gap(2), 1e6);
  const Hull hull = spectrum.hull(2);
  for (int i = 0; i < 2; ++i) EXPECT_LT(distance(hull, theta_vector(drawn.truth, i)), 1e-9);
  EXPECT_LT(std::abs((hull.directions * hull.base)[0]), 1e-9);
}

TEST(MhaHull, SupportProgramsSeeTheNeedle) {
  auto drawn = draw(law_of(2, 6, 2, 2.0), 2000, 18);
  use_all(drawn);
  const Body body = exact_body(drawn, 1e-3);
  const SupportCheck check = check_support(body, 1.0, Spectrum(body).hull(2), {});
  ASSERT_TRUE(check.solved);
  EXPECT_GT(check.along, 100.0 * check.across);
  EXPECT_LT(check.sine, 0.01);
}

TEST(MhaTrimmed, OneHeadIsFoundToRounding) {
  auto drawn = draw(law_of(1, 8, 2, 2.0), 8000, 19);
  use_all(drawn);
  const Matrix crude = crude_projection(drawn.sample, {});
  const Matrix w = sum_of_w(drawn.truth);
  EXPECT_LT((crude - w).norm(), 0.2 * w.norm());
  const Projection refined = refine_trimmed(drawn.sample, crude, 0.05, {});
  EXPECT_LT((refined.w - w).norm(), 1e-12 * w.norm());
}

TEST(MhaMargins, LargeMarginsOfTheTruthShowTheSumOfProjections) {
  auto drawn = draw(law_of(2, 8, 2, 12.0), 20000, 20);
  use_all(drawn);
  const Vector middle = 0.5 * (theta_vector(drawn.truth, 0) + theta_vector(drawn.truth, 1));
  const Matrix w = sum_of_w(drawn.truth);
  EXPECT_LT((large_margin_projection(drawn.sample, middle, {}) - w).norm(), 0.01 * w.norm());
}

TEST(MhaTuples, TheTrueTupleIsAcceptedAndAWrongOneRejectedWithAProof) {
  auto drawn = draw(law_of(2, 5, 3, 2.0), 60, 21);
  use_all(drawn);
  std::vector<Vector> thetas{theta_vector(drawn.truth, 0), theta_vector(drawn.truth, 1)};
  EXPECT_LT(std::abs(certify_tuple(drawn.sample, thetas, {}).tau), 1e-9);
  thetas[1] *= 0.5;
  const TupleCertificate wrong = certify_tuple(drawn.sample, thetas, {});
  EXPECT_GT(wrong.tau, 0.05);
  // The proof, checked from its definition: |lambda|_1 <= 1, Z^T lambda = 0, y . lambda = tau.
  EXPECT_LE(wrong.multipliers.lpNorm<1>(), 1.0 + 1e-9);
  for (const Vector& theta : thetas) {
    const Matrix z = head_features(drawn.sample, theta).mixed;
    EXPECT_LT((z.transpose() * wrong.multipliers).lpNorm<Eigen::Infinity>(), 1e-9);
  }
  const Matrix y = labels_of(drawn.sample, 0, drawn.sample.size());
  EXPECT_NEAR(y.col(wrong.output).dot(wrong.multipliers), wrong.tau, 1e-9);
}

TEST(MhaSeparableFit, GradientsAgreeWithDifferences) {
  auto drawn = draw(law_of(2, 4, 3, 2.0), 40, 22);
  use_all(drawn);
  std::vector<Vector> thetas{theta_vector(drawn.truth, 0), theta_vector(drawn.truth, 1)};
  thetas[0][3] += 0.5;
  const Context context;
  SeparableFit fit(drawn.sample, nullptr, context);
  fit.move_to(thetas);
  const Vector right = fit.normal_equations().right;
  const double size = labels_of(drawn.sample, 0, drawn.sample.size()).norm();
  const auto half_square = [&](const std::vector<Vector>& at) {
    fit.move_to(at);
    return 0.5 * std::pow(fit.residual() * size, 2.0);
  };
  constexpr double step = 1e-5;
  for (Index u = 0; u < right.size(); u += 5) {
    const auto moved = [&](double by) {
      std::vector<Vector> at = thetas;
      at[static_cast<std::size_t>(u / 16)][u % 16] += by;
      return half_square(at);
    };
    EXPECT_NEAR((moved(step) - moved(-step)) / (2.0 * step), -right[u], 1e-6);
  }
}

TEST(MhaSeparableFit, FindsTheTruthFromNearby) {
  auto drawn = draw(law_of(2, 5, 3, 2.0), 400, 23);
  use_all(drawn);
  std::vector<Vector> thetas{theta_vector(drawn.truth, 0), theta_vector(drawn.truth, 1)};
  thetas[0] *= 1.05;
  const FitOutcome fit = fit_layer(drawn.sample, thetas, nullptr, {}, {});
  EXPECT_LT(fit.residual, 1e-12);
}

}  // namespace
}  // namespace onset::mha
