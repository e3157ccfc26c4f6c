#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/smi/model/posterior.hpp"
#include "unit/smi/model/posterior/brute_force_posterior.hpp"

/// What the tests of the posterior share: models, samples of them, and ways to look at moments.
namespace onset::smi::posterior_cases {

inline DeepAttention attention_model(int layers, int tokens, std::vector<double> skip,
                                     double beta = 1.0) {
  DeepAttention model;
  model.layers = layers;
  model.tokens = tokens;
  model.skip = std::move(skip);
  model.beta = beta;
  return model;
}

/// Samples (omega, z, h) of the model itself, drawn with plain pseudo-random numbers.
struct Samples {
  Samples(const DeepAttention& model, std::vector<double> v, std::size_t n, std::uint64_t seed)
      : count(n), variance(std::move(v)) {
    const auto tokens = static_cast<std::size_t>(model.tokens);
    const std::size_t rows = variance.size() * tokens;
    omega.resize(rows * count);
    field.resize(rows * count);
    label.resize(tokens * count);
    numerics::Stream stream(seed, "posterior test");
    std::vector<double> z(rows);
    std::vector<double> h(tokens);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t row = 0; row < rows; ++row) {
        const double v_l = variance[row / tokens];
        omega[row * count + i] = std::sqrt(1.0 - v_l) * stream.normal();
        field[row * count + i] = z[row] = omega[row * count + i] + std::sqrt(v_l) * stream.normal();
      }
      label_field(model, z, h);
      for (std::size_t t = 0; t < tokens; ++t) label[t * count + i] = h[t];
    }
  }

  [[nodiscard]] PosteriorQuery query() const { return {count, label, omega, variance, 0, 0, {}}; }

  /// The same with the true fields as the centre.
  [[nodiscard]] PosteriorQuery planted() const {
    return {count, label, omega, variance, 0, 0, field};
  }

  /// Sample i alone, asked `times` times: the same question with different integration nodes.
  [[nodiscard]] Samples repeated(std::size_t i, std::size_t times) const {
    Samples r;
    r.count = times;
    r.variance = variance;
    const auto spread = [&](const std::vector<double>& from, std::vector<double>& to) {
      for (std::size_t row = 0; row < from.size() / count; ++row) {
        to.insert(to.end(), times, from[row * count + i]);
      }
    };
    spread(omega, r.omega);
    spread(field, r.field);
    spread(label, r.label);
    return r;
  }

  /// Two layers, two tokens.
  [[nodiscard]] brute_force::Question question(const DeepAttention& model, std::size_t i) const {
    const auto w = [&](std::size_t row) { return omega[row * count + i]; };
    brute_force::Question q;
    q.skip = model.skip[0];
    q.beta = model.beta;
    q.h = {label[i], label[count + i]};
    q.omega[0] = {w(0), w(1)};
    q.omega[1] = {w(2), w(3)};
    q.variance = {variance[0], variance[1]};
    return q;
  }

  std::size_t count = 0;
  std::vector<double> variance;
  std::vector<double> omega, field, label;

 private:
  Samples() = default;
};

inline PosteriorMoments ask(const DeepAttention& model, int nodes, const PosteriorQuery& query,
                            std::uint64_t seed = 1) {
  PosteriorMoments moments(model.shape(), query.count);
  attention_posterior(model, {nodes, seed})->moments(query, moments);
  return moments;
}

/// All numbers of a half in one array, sample by sample apart by `count`: log Z, means, seconds,
/// and what is there between blocks.
inline std::vector<double> flat(const PosteriorMoments::Half& half) {
  std::vector<double> all = half.log_z;
  all.insert(all.end(), half.mean.begin(), half.mean.end());
  all.insert(all.end(), half.second.begin(), half.second.end());
  all.insert(all.end(), half.cross.begin(), half.cross.end());
  return all;
}

/// The same order for the oracle.
inline std::vector<double> flat(const brute_force::Answer& answer) {
  std::vector<double> all = {answer.log_z};
  for (const auto& m : answer.mean) all.insert(all.end(), m.begin(), m.end());
  for (const auto& s : answer.second) all.insert(all.end(), s.begin(), s.end());
  all.push_back(answer.cross);
  return all;
}

inline bool all_finite(const PosteriorMoments& moments) {
  return std::all_of(std::begin(moments.half), std::end(moments.half), [](const auto& half) {
    const std::vector<double> all = flat(half);
    return std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); });
  });
}

struct Scatter {
  double mean;
  double deviation;  // of one value
};

inline Scatter scatter(const std::vector<double>& x) {
  double mean = 0.0;
  for (const double v : x) mean += v / static_cast<double>(x.size());
  double sum = 0.0;
  for (const double v : x) sum += (v - mean) * (v - mean);
  return {mean, std::sqrt(sum / static_cast<double>(x.size() - 1))};
}

/// One question asked with many independent node sets: every mean must hit the integral within 7 of
/// its standard errors, so that some hundreds of comparisons have a false alarm below 1e-6 for
/// errors that are roughly normal. The bias of a ratio of two means is their covariance, at most
/// the product of the two relative deviations (Cauchy-Schwarz), and half of that for log Z; it is
/// allowed in full, and `rounding` on top.
inline void expect_averages(const PosteriorMoments::Half& half, const std::vector<double>& truth,
                            std::size_t times, double rounding) {
  const std::vector<double> found = flat(half);
  ASSERT_EQ(found.size(), truth.size() * times);
  const auto column = [&](std::size_t k) {
    const auto first = found.begin() + static_cast<std::ptrdiff_t>(k * times);
    return scatter(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(times)));
  };
  const double relative = column(0).deviation;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    const Scatter s = column(k);
    const double tolerance = 7.0 * s.deviation / std::sqrt(static_cast<double>(times)) +
                             relative * s.deviation + rounding;
    EXPECT_NEAR(s.mean, truth[k], tolerance) << "row " << k;
  }
}

}  // namespace onset::smi::posterior_cases
