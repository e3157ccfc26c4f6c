#include "onset/smi/model/deep_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// The correction is of the order 1 / c = 1e-4 for each of two layers, times fields of order one.
constexpr double inverse_of_the_skip = 1e-3;

using Matrix = std::vector<std::vector<double>>;

Matrix normal_matrix(std::size_t rows, std::size_t columns, numerics::Stream& stream) {
  Matrix a(rows, std::vector<double>(columns));
  for (auto& row : a) stream.normal(row);
  return a;
}

/// softmax_rows(beta (x w)(x w)^T / D), straight from the definition: no shift of the scores.
Matrix attention(const Matrix& x, const std::vector<double>& w, double beta) {
  const std::size_t m = x.size();
  const std::size_t dim = w.size();
  Matrix scores(m, std::vector<double>(m, 0.0));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      // x_i^T (w w^T) x_j / D with the D x D matrix w w^T written out.
      double sum = 0.0;
      for (std::size_t a = 0; a < dim; ++a) {
        for (std::size_t b = 0; b < dim; ++b) sum += x[i][a] * w[a] * w[b] * x[j][b];
      }
      scores[i][j] = beta * sum / static_cast<double>(dim);
    }
  }
  for (auto& row : scores) {
    double total = 0.0;
    for (double& s : row) total += s = std::exp(s);
    for (double& s : row) s /= total;
  }
  return scores;
}

/// x^l = (A_l + c I) x^{l-1}, token by token in all D dimensions.
Matrix through_layer(const Matrix& a, double skip, const Matrix& x) {
  Matrix out(x.size(), std::vector<double>(x[0].size(), 0.0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double weight = a[i][j] + (i == j ? skip : 0.0);
      for (std::size_t d = 0; d < x[0].size(); ++d) out[i][d] += weight * x[j][d];
    }
  }
  return out;
}

/// z_l = x w_l / sqrt D for every layer.
std::vector<double> fields_of(const Matrix& x, const Matrix& w) {
  std::vector<double> z;
  for (const auto& direction : w) {
    for (const auto& token : x) {
      double sum = 0.0;
      for (std::size_t d = 0; d < token.size(); ++d) sum += token[d] * direction[d];
      z.push_back(sum / std::sqrt(static_cast<double>(token.size())));
    }
  }
  return z;
}

struct Case {
  DeepAttention model;
  std::string name;
};

Case make_case(int layers, int tokens, std::vector<double> skip, double beta, const char* name) {
  Case c;
  c.model.layers = layers;
  c.model.tokens = tokens;
  c.model.skip = std::move(skip);
  c.model.beta = beta;
  c.name = name;
  return c;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back(make_case(1, 2, {1.0}, 1.0, "one layer"));
  all.push_back(make_case(1, 5, {1.0}, 0.5, "one layer, five tokens"));
  all.push_back(make_case(2, 2, {1.0}, 1.0, "two layers"));
  all.push_back(make_case(2, 3, {0.0}, 2.0, "no skip"));
  all.push_back(make_case(3, 2, {0.3, 2.0}, 0.7, "a skip per layer"));
  all.push_back(make_case(3, 4, {1.0}, 1.0, "one skip for all"));
  all.push_back(make_case(5, 3, {0.5, 0.0, 1.5, 0.2}, 0.4, "five layers"));
  return all;
}

TEST(DeepAttention, ItsLabelIsThatOfTheNetworkInHighDimension) {
  constexpr std::size_t dim = 40;
  for (const auto& [model, name] : cases()) {
    const auto m = static_cast<std::size_t>(model.tokens);
    for (std::uint64_t sample = 0; sample < 5; ++sample) {
      numerics::Stream stream(7, "deep attention test", sample);
      const Matrix x0 = normal_matrix(m, dim, stream);
      const Matrix w = normal_matrix(static_cast<std::size_t>(model.layers), dim, stream);
      Matrix x = x0;
      for (int l = 0; l + 1 < model.layers; ++l) {
        const Matrix a = attention(x, w[static_cast<std::size_t>(l)], model.beta);
        x = through_layer(a, model.skip_of(l), x);
      }
      const Matrix expected = attention(x, w.back(), model.beta);
      const std::vector<double> h_expected = fields_of(x, {w.back()});

      const std::vector<double> z = fields_of(x0, w);
      std::vector<double> h(m);
      std::vector<double> y(m * m);
      label_field(model, z, h);
      attention_matrix(model, z, y);
      for (std::size_t i = 0; i < m; ++i) {
        // Rounding only: a few hundred operations on numbers of order ten.
        EXPECT_NEAR(h[i], h_expected[i], tolerance::many_roundings) << name;
        for (std::size_t j = 0; j < m; ++j) {
          EXPECT_NEAR(y[i * m + j], expected[i][j], tolerance::many_roundings) << name;
        }
      }
    }
  }
}

TEST(DeepAttention, EveryRowOfTheLabelIsAProbability) {
  for (const auto& [model, name] : cases()) {
    const auto m = static_cast<std::size_t>(model.tokens);
    std::vector<double> z(static_cast<std::size_t>(model.layers) * m);
    std::vector<double> y(m * m);
    numerics::Stream stream(11, "rows");
    for (int sample = 0; sample < 100; ++sample) {
      stream.normal(z);
      attention_matrix(model, z, y);
      for (std::size_t i = 0; i < m; ++i) {
        double sum = 0.0;
        for (std::size_t j = 0; j < m; ++j) {
          EXPECT_GE(y[i * m + j], 0.0) << name;
          sum += y[i * m + j];
        }
        EXPECT_NEAR(sum, 1.0, tolerance::dozens_of_roundings) << name;
      }
    }
  }
}

TEST(DeepAttention, TheLabelFixesTheLastFieldUpToSign) {
  // [smi 4] for two tokens: h = +-(l1, -l2) / sqrt(beta (l1 + l2)) from the logits of y.
  for (const auto& [model, name] : cases()) {
    if (model.tokens != 2) continue;
    std::vector<double> z(static_cast<std::size_t>(model.layers) * 2);
    std::vector<double> y(4);
    std::vector<double> h(2);
    numerics::Stream stream(13, "logits");
    for (int sample = 0; sample < 200; ++sample) {
      stream.normal(z);
      attention_matrix(model, z, y);
      label_field(model, z, h);
      // Logits from the ratio of entries: 1 - y would lose digits.
      const double l1 = std::log(y[0] / y[1]);
      const double l2 = std::log(y[3] / y[2]);
      if (l1 + l2 < 1e-3) continue;  // the quotient below loses half of the digits
      const double norm = std::sqrt(model.beta * (l1 + l2));
      const double sign = (l1 * h[0] - l2 * h[1]) < 0.0 ? -1.0 : 1.0;
      EXPECT_NEAR(sign * l1 / norm, h[0], 1e-10 * (1.0 + std::abs(h[0]))) << name;
      EXPECT_NEAR(-sign * l2 / norm, h[1], 1e-10 * (1.0 + std::abs(h[1]))) << name;
    }
  }
}

TEST(DeepAttention, TheLabelIgnoresTheSignOfEveryLayer) {
  for (const auto& [model, name] : cases()) {
    const auto m = static_cast<std::size_t>(model.tokens);
    std::vector<double> z(static_cast<std::size_t>(model.layers) * m);
    std::vector<double> y(m * m);
    std::vector<double> flipped(m * m);
    numerics::Stream(17, "signs").normal(z);
    attention_matrix(model, z, y);
    for (std::size_t l = 0; l < static_cast<std::size_t>(model.layers); ++l) {
      for (std::size_t t = 0; t < m; ++t) z[l * m + t] = -z[l * m + t];
      attention_matrix(model, z, flipped);
      EXPECT_EQ(y, flipped) << name << ", layer " << l + 1;
    }
  }
}

TEST(DeepAttention, TheRootOfTheCovarianceOfTokensIsTriangularAndSquaresToIt) {
  DeepAttention model{2, 3, {1.0}, 1.0};
  model.token_covariance = {1.0, 0.6, -0.2, 0.6, 1.0, 0.3, -0.2, 0.3, 1.0};
  const std::vector<double> root = model.token_root();
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (j > i) {
        EXPECT_EQ(root[3 * i + j], 0.0);
      }
      double square = 0.0;
      for (std::size_t k = 0; k < 3; ++k) square += root[3 * i + k] * root[3 * j + k];
      EXPECT_NEAR(square, model.token_covariance[3 * i + j], tolerance::few_roundings);
    }
  }
}

TEST(DeepAttention, TokensWithoutCovarianceHaveTheIdentityAsTheirRoot) {
  const std::vector<double> root = DeepAttention{2, 3, {1.0}, 1.0}.token_root();
  EXPECT_EQ(root, (std::vector<double>{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}));
}

TEST(DeepAttention, TakesCovariancesOfTokensAndNothingElse) {
  const auto accepts = [](std::vector<double> covariance) {
    DeepAttention model{2, 3, {1.0}, 1.0};
    model.token_covariance = std::move(covariance);
    try {
      model.validate();
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field(), "token_covariance");
      return false;
    }
    return true;
  };
  EXPECT_TRUE(accepts({1.0, 0.6, -0.2, 0.6, 1.0, 0.3, -0.2, 0.3, 1.0}));
  EXPECT_FALSE(accepts({1.0, 0.6, -0.2, 0.6, 1.0, 0.3, -0.2, 0.2, 1.0}));  // not symmetric
  EXPECT_FALSE(accepts({1.0, 0.6, -0.2, 0.6, 1.1, 0.3, -0.2, 0.3, 1.0}));  // another diagonal
  EXPECT_FALSE(accepts({1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0}));    // two are the same
  EXPECT_FALSE(accepts({1.0, 0.9, -0.9, 0.9, 1.0, 0.9, -0.9, 0.9, 1.0}));  // not positive
  EXPECT_FALSE(accepts({1.0, 0.0, 0.0, 1.0}));                             // of two tokens
}

TEST(DeepAttention, TheLargestModelHasALabel) {
  DeepAttention model{2, max_tokens, {1.0}, 1.0};
  model.rank = {max_rank};
  constexpr auto m = static_cast<std::size_t>(max_tokens);
  const std::vector<double> fields(2 * m * static_cast<std::size_t>(max_rank), 0.5);
  std::vector<double> y(m * m);
  attention_matrix(model, fields, y);
  // All tokens are the same, so that each attends to all alike.
  for (const double x : y) EXPECT_NEAR(x, 1.0 / max_tokens, tolerance::few_roundings);
}

TEST(DeepAttention, PermutingTokensPermutesTheLabel) {
  const DeepAttention model{3, 4, {0.3, 0.8}, 1.0};
  const std::size_t order[] = {2, 0, 3, 1};
  std::vector<double> z(12);
  std::vector<double> permuted(12);
  numerics::Stream(19, "tokens").normal(z);
  for (std::size_t l = 0; l < 3; ++l) {
    for (std::size_t t = 0; t < 4; ++t) permuted[l * 4 + t] = z[l * 4 + order[t]];
  }
  std::vector<double> y(16);
  std::vector<double> y_permuted(16);
  attention_matrix(model, z, y);
  attention_matrix(model, permuted, y_permuted);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(y_permuted[i * 4 + j], y[order[i] * 4 + order[j]],
                  tolerance::hundreds_of_roundings);
    }
  }
}

TEST(DeepAttention, LargeSkipsDoNotOverflow) {
  for (const int layers : {2, 5, 20}) {
    for (const double skip : {1e2, max_skip}) {
      const DeepAttention model{layers, 3, {skip}, 1.0};
      std::vector<double> z(static_cast<std::size_t>(layers) * 3);
      numerics::Stream(23, "large skips").normal(z);
      std::vector<double> h(3);
      std::vector<double> y(9);
      label_field(model, z, h);
      attention_matrix(model, z, y);
      for (const double x : h) EXPECT_TRUE(std::isfinite(x)) << layers << " " << skip;
      for (const double x : y) EXPECT_TRUE(x >= 0.0 && x <= 1.0) << layers << " " << skip;
    }
  }
}

TEST(DeepAttention, WithALargeSkipEveryLayerOnlyScalesTheTokens) {
  // (A + c I) / c -> I, so h / c^{L-1} -> z_L with a correction of the order 1/c.
  const DeepAttention model{3, 2, {1e4}, 1.0};
  const std::vector<double> z = {0.3, -1.2, 0.8, 0.1, -0.5, 1.4};
  std::vector<double> h(2);
  label_field(model, z, h);
  EXPECT_NEAR(h[0] / 1e8, -0.5, inverse_of_the_skip);
  EXPECT_NEAR(h[1] / 1e8, 1.4, inverse_of_the_skip);
}

TEST(DeepAttention, TheLastLayersSkipMayBeGivenAndSaysNothing) {
  DeepAttention two{2, 2, {0.5}, 1.0}, three{3, 2, {0.5, 2.0}, 1.0};
  const std::vector<double> all = {0.3, -1.2, 0.8, 0.4, -0.6, 1.1};
  const auto label = [&](const DeepAttention& model) {
    model.validate();
    const std::vector<double> fields(all.begin(), all.begin() + 2 * model.layers);
    std::vector<double> u(2);
    label_field(model, fields, u);
    return u;
  };
  const auto expected_two = label(two), expected_three = label(three);
  two.skip.push_back(7.0);
  three.skip.push_back(7.0);
  EXPECT_EQ(label(two), expected_two);
  EXPECT_EQ(label(three), expected_three);
}

TEST(DeepAttention, ValidateNamesTheFieldThatIsWrong) {
  const auto field = [](auto change) {
    DeepAttention model;
    change(model);
    try {
      model.validate();
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(std::string(error.what()).rfind(error.field() + ": ", 0), 0u) << error.what();
      return error.field();
    }
    return std::string("none");
  };
  EXPECT_EQ(field([](auto&) {}), "none");
  EXPECT_EQ(field([](auto& m) { m.layers = 0; }), "layers");
  EXPECT_EQ(field([](auto& m) { m.layers = max_layers + 1; }), "layers");
  EXPECT_EQ(field([](auto& m) { m.tokens = 1; }), "tokens");
  EXPECT_EQ(field([](auto& m) { m.tokens = max_tokens + 1; }), "tokens");
  EXPECT_EQ(field([](auto& m) { m.skip = {}; }), "skip");
  EXPECT_EQ(field([](auto& m) { m.skip = {1.0, 1.0, 1.0}; }), "skip");
  EXPECT_EQ(field([](auto& m) { m.skip = {-0.1}; }), "skip");
  EXPECT_EQ(field([](auto& m) { m.skip = {2.0 * max_skip}; }), "skip");
  EXPECT_EQ(field([](auto& m) { m.skip = {std::numeric_limits<double>::quiet_NaN()}; }), "skip");
  EXPECT_EQ(field([](auto& m) { m.layers = 4, m.skip = {1.0, 2.0}; }), "skip");
  EXPECT_EQ(field([](auto& m) { m.layers = 4, m.skip = {1.0, 2.0, 3.0}; }), "none");
  EXPECT_EQ(field([](auto& m) { m.beta = 0.0; }), "beta");
  EXPECT_EQ(field([](auto& m) { m.beta = std::numeric_limits<double>::infinity(); }), "beta");
}

}  // namespace
}  // namespace onset::smi
