#include "smi/model/posterior/uneven_last.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/smi/model/posterior.hpp"

namespace onset::smi {
namespace {

/// The trapezoid rule is exact to 3e-9 at the steps that are taken, the sums below to more; moments
/// are numbers of order one.
constexpr double of_the_circle = 1e-7;

/// Sums of weights and of the moments of z - omega, fields in the order of the library.
struct Sums {
  explicit Sums(std::size_t fields) : mean(fields, 0.0), second(fields * (fields + 1) / 2, 0.0) {}
  void add(double weight, const std::vector<double>& z, const std::vector<double>& omega) {
    total += weight;
    std::size_t pair = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      mean[i] += weight * (z[i] - omega[i]);
      for (std::size_t j = 0; j <= i; ++j, ++pair) {
        second[pair] += weight * (z[i] - omega[i]) * (z[j] - omega[j]);
      }
    }
  }
  double total = 0.0;
  std::vector<double> mean, second;
};

/// exp(-(z - omega)^T (V^{-1} (x) I) (z - omega) / 2).
double prior(const std::vector<double>& z, const std::vector<double>& omega,
             const std::vector<double>& v) {
  const double det = v[0] * v[3] - v[1] * v[2];
  const std::size_t m = z.size() / 2;
  double exponent = 0.0;
  for (std::size_t t = 0; t < m; ++t) {
    const double a = z[t] - omega[t];
    const double b = z[m + t] - omega[m + t];
    exponent += (v[3] * a * a - 2.0 * v[1] * a * b + v[0] * b * b) / det;
  }
  return std::exp(-0.5 * exponent);
}

struct Question {
  std::vector<double> label, omega;
};

Question draw(std::size_t tokens, std::uint64_t number) {
  numerics::Stream stream(7, "uneven last test", number);
  Question out{std::vector<double>(2 * tokens), std::vector<double>(2 * tokens)};
  stream.normal(out.label);
  stream.normal(out.omega);
  for (double& x : out.omega) x *= 0.7;
  return out;
}

const std::vector<std::vector<double>> covariances = {
    {1.0, 0.0, 0.0, 1.0}, {0.6, 0.25, 0.25, 0.4}, {0.9, -0.05, -0.05, 0.02}};

PosteriorMoments ask_library(const Question& question, const std::vector<double>& v) {
  DeepAttention model;
  model.layers = 1;
  model.tokens = static_cast<int>(question.omega.size() / 2);
  model.rank = {2};
  PosteriorMoments moments(model.shape(), 1, true);
  const std::vector<double> unit = {1.0};
  PosteriorQuery query{1, question.label, question.omega, unit};
  query.covariance = v;
  attention_posterior(model, {32, 1})->moments(query, moments);
  return moments;
}

void expect_moments(const Sums& truth, const PosteriorMoments& found) {
  for (std::size_t k = 0; k < truth.mean.size(); ++k) {
    EXPECT_NEAR(found.half[0].mean[k], truth.mean[k] / truth.total, of_the_circle);
  }
  for (std::size_t k = 0; k < truth.second.size(); ++k) {
    EXPECT_NEAR(found.half[0].second[k], truth.second[k] / truth.total, of_the_circle);
  }
}

TEST(UnevenLast, OfThreeTokensIsTheSumOverRotationsAndReflections) {
  for (std::uint64_t number = 0; number < 4; ++number) {
    const Question q = draw(3, number);
    for (const auto& v : covariances) {
      Sums sums(6);
      constexpr int steps = 4096;
      for (int k = 0; k < 2 * steps; ++k) {
        const double angle = 2.0 * std::numbers::pi * k / steps;
        const double mirror = k < steps ? 1.0 : -1.0;
        std::vector<double> z(6);
        for (std::size_t t = 0; t < 3; ++t) {
          const double y = mirror * q.label[3 + t];
          z[t] = std::cos(angle) * q.label[t] - std::sin(angle) * y;
          z[3 + t] = std::sin(angle) * q.label[t] + std::cos(angle) * y;
        }
        sums.add(prior(z, q.omega, v), z, q.omega);
      }
      const PosteriorMoments found = ask_library(q, v);
      expect_moments(sums, found);
      // log Z is that of N(O u; omega, V), averaged over rotations and summed over both halves.
      const double det = v[0] * v[3] - v[1] * v[2];
      const double constant = -3.0 * std::log(2.0 * std::numbers::pi) - 1.5 * std::log(det);
      EXPECT_NEAR(found.half[0].log_z[0], constant + std::log(sums.total / steps), of_the_circle);
    }
  }
}

TEST(UnevenLast, OfTwoTokensIsTheSumOverAnglesAndShifts) {
  for (std::uint64_t number = 0; number < 3; ++number) {
    const Question q = draw(2, 10 + number);
    // Components of both tokens along their difference, which are all that the scores show.
    const double dx = q.label[0] - q.label[1], dy = q.label[2] - q.label[3];
    const double distance = std::hypot(dx, dy);
    const double along[2] = {(q.label[0] * dx + q.label[2] * dy) / distance,
                             (q.label[1] * dx + q.label[3] * dy) / distance};
    for (const auto& v : covariances) {
      Sums sums(4);
      constexpr int steps = 1024, shifts = 1200;
      constexpr double reach = 9.0;
      for (int k = 0; k < steps; ++k) {
        const double c = std::cos(2.0 * std::numbers::pi * k / steps);
        const double s = std::sin(2.0 * std::numbers::pi * k / steps);
        for (int j = -shifts; j <= shifts; ++j) {
          const double r = reach * j / shifts;
          const std::vector<double> z = {c * along[0] - s * r, c * along[1] - s * r,
                                         s * along[0] + c * r, s * along[1] + c * r};
          sums.add(prior(z, q.omega, v), z, q.omega);
        }
      }
      expect_moments(sums, ask_library(q, v));
    }
  }
}

}  // namespace
}  // namespace onset::smi
