#include "smi/learners/attention_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// The square of a rounding of some dozen operations.
constexpr double squared_rounding = 1e-28;

DeepAttention network(int layers, int tokens, double skip) {
  DeepAttention model;
  model.layers = layers;
  model.tokens = tokens;
  model.skip = {skip};
  model.beta = 0.7;
  return model;
}

std::vector<double> normals(std::size_t count, std::uint64_t index) {
  std::vector<double> out(count);
  numerics::Stream(3, "attention loss test", index).normal(out);
  return out;
}

/// Loss of the fields by the network's own definition, not by AttentionLoss.
double plain_loss(const DeepAttention& model, const std::vector<double>& target,
                  const std::vector<double>& fields) {
  std::vector<double> y(target.size());
  attention_matrix(model, fields, y);
  double sum = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) sum += (y[k] - target[k]) * (y[k] - target[k]);
  return sum;
}

TEST(SmiAttentionLoss, IsTheSquaredDistanceAndItsGradientThatOfFiniteDifferences) {
  for (const int layers : {1, 2, 3, 5}) {
    for (const int tokens : {2, 3, 4}) {
      for (const double skip : {0.0, 1.0, 3.0}) {
        if (skip == 0.0 && layers > 2) continue;  // tokens become equal, and gradients vanish
        const DeepAttention model = network(layers, tokens, skip);
        AttentionLoss loss(model);
        const auto tokens_count = static_cast<std::size_t>(tokens);
        const auto fields_count = static_cast<std::size_t>(layers * tokens);
        std::vector<double> teacher = normals(fields_count, 1);
        std::vector<double> fields = normals(fields_count, 2), gradient(fields_count);
        // Tokens grow like (1 + skip)^l through the layers: fields that undo it keep every softmax
        // away from its ends, where gradients vanish.
        for (std::size_t k = 0; k < fields_count; ++k) {
          const double size = std::pow(1.0 + skip, -static_cast<double>(k / tokens_count));
          teacher[k] *= size;
          fields[k] *= 0.7 * size;
        }
        std::vector<double> target(static_cast<std::size_t>(tokens * tokens));
        attention_matrix(model, teacher, target);
        EXPECT_NEAR(loss(target, fields, gradient), plain_loss(model, target, fields),
                    tolerance::hundreds_of_roundings);
        const double largest =
            std::abs(*std::max_element(gradient.begin(), gradient.end(), [](double x, double y) {
              return std::abs(x) < std::abs(y);
            }));
        EXPECT_GT(largest, 1e-4);
        for (std::size_t k = 0; k < fields_count; ++k) {
          const auto difference = [&](double h) {
            std::vector<double> up = fields, down = fields;
            up[k] += h;
            down[k] -= h;
            return (plain_loss(model, target, up) - plain_loss(model, target, down)) / (2.0 * h);
          };
          // Without the error of order h^2; h in units of the field's own size.
          const double h = 1e-3 * std::pow(1.0 + skip, -static_cast<double>(k / tokens_count));
          const double slope = (4.0 * difference(0.5 * h) - difference(h)) / 3.0;
          EXPECT_NEAR(gradient[k], slope, 1e-8 * (1e-2 + largest))
              << layers << " layers, " << tokens << " tokens, skip " << skip;
        }
      }
    }
  }
}

TEST(SmiAttentionLoss, VanishesWithItsGradientAtTheTeacherAndItsMirrorImages) {
  const DeepAttention model = network(3, 2, 1.0);
  AttentionLoss loss(model);
  std::vector<double> fields = normals(6, 5), gradient(6), target(4);
  loss.predict(fields, target);
  for (std::size_t t = 0; t < 2; ++t) fields[2 + t] = -fields[2 + t];
  EXPECT_NEAR(loss(target, fields, gradient), 0.0, squared_rounding);
  for (const double g : gradient) EXPECT_NEAR(g, 0.0, tolerance::hundreds_of_roundings);
}

TEST(SmiAttentionLoss, StaysFiniteWhereSoftmaxesAreHardMaxima) {
  AttentionLoss loss(network(2, 3, 1.0));
  std::vector<double> fields = normals(6, 7), gradient(6), target(9, 1.0 / 3.0);
  for (double& z : fields) z *= 1e3;
  EXPECT_TRUE(std::isfinite(loss(target, fields, gradient)));
  for (const double g : gradient) EXPECT_TRUE(std::isfinite(g));
}

TEST(SmiAttentionLoss, HasTheGradientOfLayersOfAnyRankAndOfCorrelatedTokens) {
  DeepAttention model = network(3, 3, 0.5);
  model.rank = {2, 1, 3};
  model.token_covariance = {1.0, 0.4, 0.1, 0.4, 1.0, 0.3, 0.1, 0.3, 1.0};
  AttentionLoss loss(model);
  const std::size_t count = model.shape().fields();
  std::vector<double> teacher = normals(count, 1), fields = normals(count, 2), gradient(count),
                      target(9);
  for (double& x : teacher) x *= 0.5;
  for (double& x : fields) x *= 0.5;
  attention_matrix(model, teacher, target);
  EXPECT_NEAR(loss(target, fields, gradient), plain_loss(model, target, fields),
              tolerance::hundreds_of_roundings);
  for (std::size_t k = 0; k < count; ++k) {
    const auto difference = [&](double h) {
      std::vector<double> up = fields, down = fields;
      up[k] += h;
      down[k] -= h;
      return (plain_loss(model, target, up) - plain_loss(model, target, down)) / (2.0 * h);
    };
    // Without the error of order h^2, which leaves 1e-12 and rounding over h.
    const double slope = (4.0 * difference(5e-4) - difference(1e-3)) / 3.0;
    EXPECT_NEAR(gradient[k], slope, tolerance::difference_quotient) << k;
  }
}

TEST(SmiAttentionLoss, RefusesNoise) {
  DeepAttention model = network(2, 3, 1.0);
  model.noise = 0.1;
  EXPECT_THROW(AttentionLoss{model}, InvalidArgument);
}

}  // namespace
}  // namespace onset::smi
