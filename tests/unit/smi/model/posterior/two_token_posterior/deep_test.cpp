#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "numerics/linear_algebra/matrix_equations.hpp"
#include "onset/core/error.hpp"
#include "smi/model/posterior/sampled_posterior.hpp"
#include "support/tolerances.hpp"
#include "unit/smi/model/posterior/posterior_cases.hpp"

namespace onset::smi {
namespace {

using namespace posterior_cases;

/// Self-normalised Monte Carlo over the priors of the inner fields, three layers: values and
/// standard errors in the order of flat().
struct MonteCarlo {
  std::vector<double> value, error;
};

MonteCarlo prior_sampling(const DeepAttention& model, const Samples& samples, std::size_t i,
                          std::size_t draws) {
  std::mt19937_64 engine(1234 + i);
  std::normal_distribution<double> normal;
  const double h[2] = {samples.label[i], samples.label[samples.count + i]};
  const auto w = [&](std::size_t row) { return samples.omega[row * samples.count + i]; };
  std::vector<double> sum(16, 0.0);     // of weight times quantity; quantity 0 is 1
  std::vector<double> square(16, 0.0);  // of weight^2 times quantity^2
  std::vector<double> cross(16, 0.0);   // of weight^2 times quantity
  std::vector<double> quantity(16);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    double z[6];
    double b[4] = {1.0, 0.0, 0.0, 1.0};  // B, row by row
    for (std::size_t l = 0; l < 2; ++l) {
      const double deviation = std::sqrt(samples.variance[l]);
      for (std::size_t t = 0; t < 2; ++t) z[2 * l + t] = w(2 * l + t) + deviation * normal(engine);
      const double u1 = b[0] * z[2 * l] + b[1] * z[2 * l + 1];
      const double u2 = b[2] * z[2 * l] + b[3] * z[2 * l + 1];
      const double off1 = 1.0 / (1.0 + std::exp(model.beta * u1 * (u1 - u2)));
      const double off2 = 1.0 / (1.0 + std::exp(model.beta * u2 * (u2 - u1)));
      const double a11 = 1.0 - off1 + model.skip_of(static_cast<int>(l));
      const double a22 = 1.0 - off2 + model.skip_of(static_cast<int>(l));
      const double next[4] = {a11 * b[0] + off1 * b[2], a11 * b[1] + off1 * b[3],
                              off2 * b[0] + a22 * b[2], off2 * b[1] + a22 * b[3]};
      std::copy(next, next + 4, b);
    }
    const double determinant = b[0] * b[3] - b[1] * b[2];
    for (const double sign : {1.0, -1.0}) {
      z[4] = sign * (b[3] * h[0] - b[1] * h[1]) / determinant;
      z[5] = sign * (b[0] * h[1] - b[2] * h[0]) / determinant;
      const double weight =
          std::exp(brute_force::log_normal({z[4], z[5]}, {w(4), w(5)}, samples.variance[2])) /
          std::abs(determinant);
      quantity[0] = 1.0;
      for (std::size_t l = 0; l < 3; ++l) {
        const double scale = 1.0 / std::sqrt(samples.variance[l]);
        const double first = (z[2 * l] - w(2 * l)) * scale;
        const double second = (z[2 * l + 1] - w(2 * l + 1)) * scale;
        quantity[1 + 2 * l] = first;
        quantity[2 + 2 * l] = second;
        quantity[7 + 3 * l] = first * first;
        quantity[8 + 3 * l] = first * second;
        quantity[9 + 3 * l] = second * second;
      }
      for (std::size_t k = 0; k < 16; ++k) {
        sum[k] += weight * quantity[k];
        square[k] += weight * weight * quantity[k] * quantity[k];
        cross[k] += weight * weight * quantity[k];
      }
    }
  }
  // Both signs of one draw are correlated; counting them as two draws misses at most a factor
  // sqrt 2 of the error, which is added here.
  MonteCarlo result;
  const double n = static_cast<double>(draws);
  result.value.push_back(std::log(sum[0] / n));
  result.error.push_back(std::sqrt(2.0 * square[0]) / sum[0]);
  for (std::size_t k = 1; k < 16; ++k) {
    const double mean = sum[k] / sum[0];
    const double spread = square[k] - 2.0 * mean * cross[k] + mean * mean * square[0];
    result.value.push_back(mean);
    result.error.push_back(std::sqrt(2.0 * spread) / sum[0]);
  }
  return result;
}

TEST(TwoTokenPosterior, OfThreeLayersAgreesWithPlainMonteCarlo) {
  // 4 x 16 comparisons at 6 joint standard errors: a false alarm of about 1e-6 (65 x 2e-9 for the
  // Monte Carlo part, 63 degrees of freedom for the library's).
  constexpr std::size_t times = 64;
  const DeepAttention model = attention_model(3, 2, {0.5, 1.0}, 0.8);
  for (const auto& variance : {std::vector<double>{1.0, 0.8, 0.5}, {0.6, 0.5, 0.7}}) {
    const Samples samples(model, variance, 2, 47);
    const auto posterior = attention_posterior(model, {1024, 1});
    for (std::size_t i = 0; i < samples.count; ++i) {
      const MonteCarlo truth = prior_sampling(model, samples, i, 2000000);
      PosteriorMoments moments({2, {1, 1, 1}}, times);
      const Samples same = samples.repeated(i, times);
      posterior->moments(same.query(), moments);
      const std::vector<double> found = flat(moments.half[0]);
      for (std::size_t k = 0; k < truth.value.size(); ++k) {
        const auto first = found.begin() + static_cast<std::ptrdiff_t>(k * times);
        const Scatter s = scatter(std::vector<double>(first, first + times));
        const double error = std::hypot(truth.error[k], s.deviation / std::sqrt(1.0 * times));
        EXPECT_NEAR(s.mean, truth.value[k], 6.0 * error) << "sample " << i << " row " << k;
        EXPECT_LT(truth.error[k], 0.02);  // the oracle resolves something
      }
    }
  }
}

TEST(TwoTokenPosterior, TheSameQueryGivesTheSameBits) {
  const DeepAttention model = attention_model(3, 2, {0.5});
  const Samples samples(model, {0.9, 0.5, 0.1}, 40, 59);
  const PosteriorMoments first = ask(model, 64, samples.query());
  const PosteriorMoments again = ask(model, 64, samples.query());
  const PosteriorMoments other = ask(model, 64, samples.query(), 2);
  for (std::size_t e = 0; e < 2; ++e) {
    EXPECT_EQ(flat(first.half[e]), flat(again.half[e]));
    EXPECT_NE(flat(first.half[e]), flat(other.half[e]));
  }
}

TEST(TwoTokenPosterior, StaysFiniteWithoutSkipsAndWithHugeOnes) {
  for (const int layers : {2, 3, 5, 8}) {
    for (const double skip : {0.0, 1e3}) {
      for (const double v : {1.0, 0.5, 1e-3}) {
        const DeepAttention model = attention_model(layers, 2, {skip});
        const auto l = static_cast<std::size_t>(layers);
        const Samples samples(model, std::vector<double>(l, v), 64, 73);
        EXPECT_TRUE(all_finite(ask(model, 64, samples.query())))
            << layers << " layers, skip " << skip << " V " << v;
      }
    }
  }
}

TEST(TwoTokenPosterior, KeepsOddMomentsOfAnUnlearnedLayerAtZero) {
  // Whatever is known of the others, and with moments between layers too.
  const std::vector<std::vector<double>> cases = {
      {1.0, 1e-3}, {0.3, 1.0, 1e-2}, {0.5, 1.0, 0.2, 0.1}};
  for (const auto& variance : cases) {
    const DeepAttention model = attention_model(static_cast<int>(variance.size()), 2, {0.5}, 3.0);
    const Samples samples(model, variance, 32, 97);
    for (const bool between : {false, true}) {
      PosteriorMoments m(model.shape(), samples.count, between);
      attention_posterior(model, {64, 1})->moments(samples.planted(), m);
      double learned = 0.0;
      for (std::size_t l = 0; l < variance.size(); ++l) {
        for (std::size_t k = 2 * l * samples.count; k < 2 * (l + 1) * samples.count; ++k) {
          if (variance[l] == 1.0)
            EXPECT_NEAR(m.half[0].mean[k], 0.0, tolerance::thousands_of_roundings);
          else
            learned = std::max(learned, std::abs(m.half[0].mean[k]));
        }
      }
      EXPECT_GT(learned, 0.1);
    }
  }
}

TEST(TwoTokenPosterior, SumsSignsTheSameWayOneByOneAndAtOnce) {
  // A prior that couples layers makes every choice of signs a node of its own, also if by 0.
  const DeepAttention model = attention_model(3, 2, {0.5}, 1.5);
  const Samples samples(model, {0.9, 0.4, 0.3}, 32, 107);
  PosteriorMoments at_once(model.shape(), samples.count, true);
  PosteriorMoments one_by_one(model.shape(), samples.count, true);
  const auto posterior = attention_posterior(model, {128, 1});
  posterior->moments(samples.planted(), at_once);
  const std::vector<double> none(9, 0.0);
  PosteriorQuery coupled = samples.planted();
  coupled.coupling = none;
  posterior->moments(coupled, one_by_one);
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], tolerance::many_roundings);
  };
  for (std::size_t e = 0; e < 2; ++e) {
    same(at_once.half[e].log_z, one_by_one.half[e].log_z);
    same(at_once.half[e].mean, one_by_one.half[e].mean);
    same(at_once.half[e].second, one_by_one.half[e].second);
    same(at_once.half[e].cross, one_by_one.half[e].cross);
    same(at_once.half[e].mean_bias, one_by_one.half[e].mean_bias);
    same(at_once.half[e].second_bias, one_by_one.half[e].second_bias);
  }
}

/// The prior of a coupling K as a covariance: D (I + K)^-1 D with the roots D of the variances. Its
/// moments are those of D zeta, and its normalisation lacks the determinant [smi 86, 92].
struct AsCovariance {
  std::vector<double> units;
  Eigen::MatrixXd coupled;  // I + K
  std::vector<double> entries;

  AsCovariance(const std::vector<double>& variance, const std::vector<double>& coupling) {
    for (const double v : variance) units.push_back(std::sqrt(v));
    const auto size = static_cast<Eigen::Index>(units.size());
    coupled = Eigen::MatrixXd::Identity(size, size) +
              Eigen::Map<const Eigen::MatrixXd>(coupling.data(), size, size);
    const Eigen::MatrixXd inverse = numerics::inverse(coupled);
    for (std::size_t p = 0; p < units.size(); ++p) {
      for (std::size_t q = 0; q < units.size(); ++q) {
        entries.push_back(units[p] * units[q] *
                          inverse(static_cast<Eigen::Index>(p), static_cast<Eigen::Index>(q)));
      }
    }
  }

  /// Brings the columns of flat() for two tokens to those of zeta.
  void to_zeta(std::vector<Scatter>& columns) const {
    constexpr double tokens = 2.0;
    const Eigen::MatrixXd root = numerics::cholesky_factor(coupled);
    columns[0].mean -= tokens * root.diagonal().array().log().sum();
    std::vector<double> unit;
    for (const double u : units) unit.insert(unit.end(), 2, u);
    for (const double u : units) unit.insert(unit.end(), 3, u * u);
    for (std::size_t p = 0; p < units.size(); ++p) {
      for (std::size_t q = 0; q < p; ++q) unit.push_back(units[p] * units[q]);
    }
    ASSERT_EQ(columns.size(), unit.size() + 1);
    for (std::size_t k = 0; k < unit.size(); ++k) {
      columns[k + 1].mean /= unit[k];
      columns[k + 1].deviation /= unit[k];
    }
  }
};

TEST(TwoTokenPosterior, OfThreeCoupledLayersAgreesWithTheOtherSampler) {
  // Two samplers that share no code, averaged over 64 node sets: 19 numbers of 2 samples at 6 joint
  // standard errors and the bias of a ratio of means. False alarms near 1e-6.
  constexpr std::size_t times = 64;
  const DeepAttention model = attention_model(3, 2, {0.5, 1.0}, 0.8);
  const std::vector<double> variance = {0.8, 0.5, 0.4};
  const Samples samples(model, variance, 2, 109);
  const std::vector<double> coupling = {0.1, 0.3, -0.2, 0.3, 0.15, 0.1, -0.2, 0.1, 0.05};
  const AsCovariance prior(variance, coupling);
  for (std::size_t i = 0; i < samples.count; ++i) {
    const Samples same = samples.repeated(i, times);
    const auto columns = [&](const Posterior& posterior) {
      PosteriorQuery query = same.planted();
      (posterior.any_covariance() ? query.covariance : query.coupling) =
          posterior.any_covariance() ? prior.entries : coupling;
      PosteriorMoments moments(model.shape(), times, true);
      posterior.moments(query, moments);
      std::vector<double> found = flat(moments.half[0]);
      std::vector<Scatter> all;
      for (std::size_t k = 0; k < found.size() / times; ++k) {
        const auto first = found.begin() + static_cast<std::ptrdiff_t>(k * times);
        all.push_back(scatter(std::vector<double>(first, first + times)));
      }
      return all;
    };
    const auto a = columns(*attention_posterior(model, {1024, 1}));
    auto b = columns(SampledPosterior(model, {1024, 1}));
    prior.to_zeta(b);
    ASSERT_GE(a.size(), 19u);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double error = std::hypot(a[k].deviation, b[k].deviation) / std::sqrt(1.0 * times);
      const double bias = a[0].deviation * a[k].deviation + b[0].deviation * b[k].deviation;
      EXPECT_NEAR(a[k].mean, b[k].mean, 6.0 * error + bias + 1e-9)
          << "sample " << i << " row " << k;
    }
  }
}

TEST(TwoTokenPosterior, OfThreeSharpLayersAgreesWithManyMoreNodes) {
  // 128 nodes, averaged over 64 node sets, against 64 times the nodes averaged over 8: all 16
  // numbers within 8 joint standard errors (7 degrees of freedom in part, hence not 6) and the bias
  // of a ratio of means. 32 comparisons; false alarms near 1e-6.
  const DeepAttention model = attention_model(3, 2, {0.5, 1.0}, 2.0);
  const Samples samples(model, {1e-2, 1e-3, 1e-3}, 2, 103);
  const auto coarse = attention_posterior(model, {128, 1});
  const auto fine = attention_posterior(model, {8192, 7});
  for (std::size_t i = 0; i < samples.count; ++i) {
    const auto columns = [&](const Posterior& posterior, std::size_t times) {
      const Samples same = samples.repeated(i, times);
      PosteriorMoments moments({2, {1, 1, 1}}, times);
      posterior.moments(same.planted(), moments);
      const std::vector<double> found = flat(moments.half[0]);
      std::vector<Scatter> all;
      for (std::size_t k = 0; k < found.size() / times; ++k) {
        const auto first = found.begin() + static_cast<std::ptrdiff_t>(k * times);
        const Scatter s = scatter(std::vector<double>(first, first + static_cast<long>(times)));
        all.push_back({s.mean, s.deviation / std::sqrt(1.0 * static_cast<double>(times))});
      }
      return all;
    };
    const auto few = columns(*coarse, 64);
    const auto many = columns(*fine, 8);
    const double relative = 8.0 * few[0].deviation;  // of one estimate of Z
    for (std::size_t k = 0; k < few.size(); ++k) {
      const double error = std::hypot(few[k].deviation, many[k].deviation);
      EXPECT_NEAR(few[k].mean, many[k].mean, 8.0 * error + relative * 8.0 * few[k].deviation + 1e-9)
          << "sample " << i << " row " << k;
    }
  }
}

}  // namespace
}  // namespace onset::smi
