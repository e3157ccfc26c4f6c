#include "smi/model/posterior/laplace_proposal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/tolerances.hpp"
#include "unit/smi/model/posterior/posterior_cases.hpp"

namespace onset::smi {
namespace {

/// The determinant is a difference of products that are ten times as large.
constexpr double of_a_determinant = 1e-5;

using namespace posterior_cases;
using brute_force::Pair;

/// z_2 = B(z_1)^{-1} h in the plain token basis.
Pair solved(double skip, double beta, const Pair& z1, const Pair& h) {
  const double off1 = 1.0 / (1.0 + std::exp(beta * z1[0] * (z1[0] - z1[1])));
  const double off2 = 1.0 / (1.0 + std::exp(beta * z1[1] * (z1[1] - z1[0])));
  const double b11 = 1.0 - off1 + skip;
  const double b22 = 1.0 - off2 + skip;
  const double determinant = b11 * b22 - off1 * off2;
  return {(b22 * h[0] - off1 * h[1]) / determinant, (b11 * h[1] - off2 * h[0]) / determinant};
}

two_token::Plane rotated(double first, double second) {
  return {(first + second) / std::numbers::sqrt2, (first - second) / std::numbers::sqrt2};
}

TEST(LaplaceProposal, HasTheSlopesOfTheSolvedFieldAsItsPrecision) {
  // factor^T factor = I + K^T K with K = sqrt(V_1 / V_2) dz_2/dz_1: its trace and its determinant
  // do not depend on the basis, so K comes from differences in the token basis.
  for (const double skip : {0.1, 1.0}) {
    for (const double beta : {1.0, 5.0}) {
      const DeepAttention model = attention_model(2, 2, {skip}, beta);
      const Samples s(model, {0.3, 0.02}, 8, 11);
      for (std::size_t i = 0; i < s.count; ++i) {
        const auto at = [&](const std::vector<double>& x, std::size_t row) {
          return x[row * s.count + i];
        };
        const Pair h = {at(s.label, 0), at(s.label, 1)};
        const double step = 1e-5;
        const double ratio = std::sqrt(s.variance[0] / s.variance[1]);
        double k[2][2];
        for (std::size_t column = 0; column < 2; ++column) {
          Pair up = {at(s.field, 0), at(s.field, 1)};
          Pair down = up;
          up[column] += step;
          down[column] -= step;
          const Pair a = solved(skip, beta, up, h);
          const Pair b = solved(skip, beta, down, h);
          for (std::size_t r = 0; r < 2; ++r) k[r][column] = ratio * (a[r] - b[r]) / (2.0 * step);
        }
        const double p11 = 1.0 + k[0][0] * k[0][0] + k[1][0] * k[1][0];
        const double p22 = 1.0 + k[0][1] * k[0][1] + k[1][1] * k[1][1];
        const double p12 = k[0][0] * k[0][1] + k[1][0] * k[1][1];

        TwoTokenSample sample{
            rotated(h[0], h[1]),
            {rotated(at(s.omega, 0), at(s.omega, 1)), rotated(at(s.omega, 2), at(s.omega, 3))},
            {std::sqrt(s.variance[0]), std::sqrt(s.variance[1])}};
        const std::vector<two_token::Plane> centre = {rotated(at(s.field, 0), at(s.field, 1)),
                                                      rotated(at(s.field, 2), at(s.field, 3))};
        LaplaceProposal proposal(model);
        proposal.build(sample, centre);
        const LaplaceComponent& c = proposal.component();
        double trace = 0.0;
        for (const double f : c.factor) trace += f * f;
        EXPECT_NEAR(trace / (p11 + p22), 1.0, tolerance::coarse_difference_quotient);
        EXPECT_NEAR(c.log_determinant, 0.5 * std::log(p11 * p22 - p12 * p12), of_a_determinant);
      }
    }
  }
}

/// Regimes in which neither prior nodes nor inverted softmaxes find the posterior.
struct Sharp {
  double beta;
  double skip;
  double v1;
  double v2;
  double coarseness;  // of the oracle: small eigenvalues sharpen the ridge
};

constexpr Sharp sharp[] = {
    {10.0, 1.0, 1e-4, 1e-6, 0.5}, {10.0, 0.1, 1e-2, 1e-3, 0.3}, {30.0, 0.1, 1e-8, 1e-8, 0.3}};

TEST(LaplaceProposal, AveragesToTheBruteForceIntegralWhateverTheCentre) {
  // As for the ordinary regimes, 3 x 3 x 3 x 12 comparisons. A centre in the wrong place costs
  // accuracy, never correctness.
  constexpr std::size_t times = 256;
  for (const Sharp& r : sharp) {
    const DeepAttention model = attention_model(2, 2, {r.skip}, r.beta);
    const Samples samples(model, {r.v1, r.v2}, 3, 83);
    const auto posterior = attention_posterior(model, {1024, 1});
    for (std::size_t i = 0; i < samples.count; ++i) {
      const auto truth = flat(brute_force::solve(samples.question(model, i), r.coarseness));
      const Samples same = samples.repeated(i, times);
      std::vector<double> beside = same.field;
      for (std::size_t k = 0; k < beside.size(); ++k) {
        beside[k] += 0.7 * std::sqrt(same.variance[k / (2 * times)]);
      }
      for (const std::span<const double> centre :
           {std::span<const double>{}, std::span<const double>(same.field),
            std::span<const double>(beside)}) {
        PosteriorQuery query = same.query();
        query.centre = centre;
        PosteriorMoments moments({2, {1, 1}}, times, true);
        posterior->moments(query, moments);
        SCOPED_TRACE("beta " + std::to_string(r.beta) + " skip " + std::to_string(r.skip));
        expect_averages(moments.half[0], truth, times, 1e-6);
      }
    }
  }
}

TEST(LaplaceProposal, MakesSharpPosteriorsAccurate) {
  // RMS of half the difference of the halves, per token: 256 nodes of the prior and of inverted
  // softmaxes alone leave 0.04 to 0.4 here. Fixed seeds; the bounds are three times what was
  // measured.
  for (const Sharp& r : sharp) {
    const DeepAttention model = attention_model(2, 2, {r.skip}, r.beta);
    const Samples samples(model, {r.v1, r.v2}, 256, 89);
    const PosteriorMoments m = ask(model, 256, samples.planted());
    double square = 0.0;
    for (std::size_t k = 0; k < m.half[0].mean.size(); ++k) {
      square += 0.25 * std::pow(m.half[0].mean[k] - m.half[1].mean[k], 2);
    }
    EXPECT_LT(std::sqrt(square / static_cast<double>(m.half[0].mean.size())), 0.06)
        << "beta " << r.beta << " skip " << r.skip;
  }
}

TEST(LaplaceProposal, KnowsManyLayersAtOnce) {
  // V -> 0: two of 2 L directions are fixed by the label, whatever the slopes: tr Cov(zeta) over
  // all layers is 2 (L - 1) for every sample.
  for (const int layers : {2, 3, 5}) {
    const DeepAttention model = attention_model(layers, 2, {0.3}, 4.0);
    const auto l = static_cast<std::size_t>(layers);
    const Samples samples(model, std::vector<double>(l, 1e-10), 128, 101);
    for (const PosteriorQuery& query : {samples.planted(), samples.query()}) {
      const PosteriorMoments m = ask(model, 1024, query);
      std::vector<double> trace(samples.count, 0.0);
      for (std::size_t k = 0; k < l; ++k) {
        for (std::size_t t = 0; t < 2; ++t) {
          for (std::size_t i = 0; i < samples.count; ++i) {
            const double mean = m.half[0].mean[(2 * k + t) * samples.count + i];
            trace[i] += m.half[0].second[(3 * k + 2 * t) * samples.count + i] - mean * mean;
          }
        }
      }
      const Scatter s = scatter(trace);
      EXPECT_NEAR(s.mean, 2.0 * (layers - 1), 0.02 * layers) << layers;
      EXPECT_LT(s.deviation, 0.1 * layers) << layers;
    }
  }
}

}  // namespace
}  // namespace onset::smi
