#include "aim/model/layers/two_layers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

using Matrix = std::array<std::array<double, 2>, 2>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j];
  }
  return c;
}

/// How the first layer mixes tokens: softmax of its rows + skip.
Matrix mixing(const TwoLayers& model, const Matrix& h) {
  Matrix b{};
  for (std::size_t i = 0; i < 2; ++i) {
    const double sum = std::exp(model.beta * h[i][0]) + std::exp(model.beta * h[i][1]);
    for (std::size_t j = 0; j < 2; ++j) b[i][j] = std::exp(model.beta * h[i][j]) / sum;
    b[i][i] += model.skip;
  }
  return b;
}

/// The fields of B h B^T, by matrices.
PairFields shown_by_matrices(const TwoLayers& model, const Matrix& first, const Matrix& second) {
  const Matrix b = mixing(model, first);
  const Matrix transposed{{{b[0][0], b[1][0]}, {b[0][1], b[1][1]}}};
  const Matrix m = product(product(b, second), transposed);
  return {m[0][0] - m[0][1], m[1][1] - m[0][1]};
}

double normal_density(const PairFields& x, const PairLaw& law) {
  const auto& c = law.covariance;
  const double det = c[0] * c[2] - c[1] * c[1];
  const PairFields d{x[0] - law.mean[0], x[1] - law.mean[1]};
  const double length = (c[2] * d[0] * d[0] - 2.0 * c[1] * d[0] * d[1] + c[0] * d[1] * d[1]) / det;
  return std::exp(-0.5 * length) / (2.0 * std::numbers::pi * std::sqrt(det));
}

const PairLaw first_law{{0.4, -0.7}, {1.5, 0.5, 1.2}};
const PairLaw second_law{{-0.9, 0.3}, {0.9, 0.3, 1.1}};
const std::array<PairLaw, 2> both_laws{first_law, second_law};

void add_squares(double weight, const PairFields& x, PairMatrix& sums) {
  sums[0] += weight * x[0] * x[0];
  sums[1] += weight * x[0] * x[1];
  sums[2] += weight * x[1] * x[1];
}

/// The posterior again, with a matrix for A from the label's own definition and a fixed fine rule.
TwoLayerMoments plain_posterior(const TwoLayers& model, const PairFields& t) {
  constexpr double step = 0.02;
  constexpr int side = 400;
  double all = 0.0;
  TwoLayerMoments m;
  std::array<PairMatrix, 2> square{};
  for (int i = -side; i <= side; ++i) {
    for (int j = -side; j <= side; ++j) {
      const PairFields u{first_law.mean[0] + i * step, first_law.mean[1] + j * step};
      const PairFields x = model.shown(u, {1.0, 0.0});  // columns of A
      const PairFields y = model.shown(u, {0.0, 1.0});
      const double det = x[0] * y[1] - x[1] * y[0];
      if (det == 0.0) continue;
      const PairFields w{(y[1] * t[0] - y[0] * t[1]) / det, (x[0] * t[1] - x[1] * t[0]) / det};
      const double weight = normal_density(u, first_law) * normal_density(w, second_law) /
                            std::abs(det) * step * step;
      all += weight;
      for (std::size_t k = 0; k < 2; ++k) {
        m.mean[0][k] += weight * u[k];
        m.mean[1][k] += weight * w[k];
      }
      add_squares(weight, u, square[0]);
      add_squares(weight, w, square[1]);
    }
  }
  for (std::size_t l = 0; l < 2; ++l) {
    for (std::size_t k = 0; k < 2; ++k) m.mean[l][k] /= all;
    const auto& [a, b] = m.mean[l];
    const auto& c = both_laws[l].covariance;
    const PairMatrix variance{square[l][0] / all - a * a, square[l][1] / all - a * b,
                              square[l][2] / all - b * b};
    m.unknown[l] = (c[2] * variance[0] - 2.0 * c[1] * variance[1] + c[0] * variance[2]) /
                   (c[0] * c[2] - c[1] * c[1]);
  }
  m.log_density = std::log(all);
  return m;
}

TEST(TwoLayers, ShowTheFieldsOfTheMixedScores) {
  const Matrix first{{{0.3, -1.1}, {-1.1, 0.8}}};
  const Matrix second{{{-0.6, 0.9}, {0.9, 1.7}}};
  for (const TwoLayers model : {TwoLayers{}, TwoLayers{2.5, 0.0}, TwoLayers{0.7, 3.0}}) {
    const std::array<double, 3> h{0.3, -1.1, 0.8};
    const std::array<double, 3> k{-0.6, 0.9, 1.7};
    const PairFields t = model.shown(fields_of(h.data()), fields_of(k.data()));
    const PairFields expected = shown_by_matrices(model, first, second);
    EXPECT_NEAR(t[0], expected[0], tolerance::dozens_of_roundings);
    EXPECT_NEAR(t[1], expected[1], tolerance::dozens_of_roundings);
  }
}

TEST(TwoLayerPosterior, AgreesWithAPlainIntegral) {
  for (const TwoLayers model : {TwoLayers{}, TwoLayers{1.0, 0.3}, TwoLayers{2.0, 1.0}}) {
    for (const PairFields t :
         {PairFields{0.5, -1.0}, PairFields{-3.0, 2.0}, PairFields{0.1, 0.2}}) {
      const TwoLayerMoments m = two_layer_posterior(model, t, both_laws);
      const TwoLayerMoments plain = plain_posterior(model, t);
      // Means are in standard deviations of about 1; the plain rule is exact to rounding and to
      // what lies beyond eight of them.
      const double within = m.error + tolerance::coarse_difference_quotient;
      for (std::size_t l = 0; l < 2; ++l) {
        EXPECT_NEAR(m.mean[l][0], plain.mean[l][0], within) << model.skip << " " << t[0];
        EXPECT_NEAR(m.mean[l][1], plain.mean[l][1], within) << model.skip << " " << t[0];
        EXPECT_NEAR(m.unknown[l], plain.unknown[l], within) << model.skip << " " << t[0];
      }
      EXPECT_NEAR(m.log_density, plain.log_density, within);
      EXPECT_LT(m.error, 1e-4);
    }
  }
}

/// g of [aim 44] is the derivative of log Z with respect to the means.
TEST(TwoLayerPosterior, MeansAreSlopesOfTheDensity) {
  const TwoLayers model;
  const PairFields t{1.2, -0.4};
  constexpr double step = 1e-2;
  constexpr double of_two_rules = 1e-2;  // errors of 1e-5 over the step, and step^2
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t k = 0; k < 2; ++k) {
      const auto density = [&](double move) {
        std::array<PairLaw, 2> moved = both_laws;
        moved[layer].mean[k] += move;
        return two_layer_posterior(model, t, moved).log_density;
      };
      const PairFields mean = two_layer_posterior(model, t, both_laws).mean[layer];
      const PairLaw& law = both_laws[layer];
      const PairFields slope =
          solve(law.covariance, {mean[0] - law.mean[0], mean[1] - law.mean[1]});
      EXPECT_NEAR((density(step) - density(-step)) / (2.0 * step), slope[k], of_two_rules)
          << layer << " " << k;
    }
  }
}

/// A label that is far more precise than the first layer was known needs finer rules, and says so
/// where they do not suffice.
TEST(TwoLayerPosterior, FollowsLabelsThatFixTheFirstLayer) {
  const TwoLayers model;
  PairLaw sure = second_law;
  for (double& c : sure.covariance) c *= 1e-3;
  const PairFields u{1.3, -0.2};
  const TwoLayerMoments m =
      two_layer_posterior(model, model.shown(u, sure.mean), {first_law, sure});
  EXPECT_LT(m.error, 1e-4);
  // The second layer is known to 0.03, and the first one follows from it, a few times less exactly.
  constexpr double some_widths = 0.3;
  EXPECT_NEAR(m.mean[0][0], u[0], some_widths);
  EXPECT_NEAR(m.mean[0][1], u[1], some_widths);
}

}  // namespace
}  // namespace onset::aim
