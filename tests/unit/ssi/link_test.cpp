#include "onset/ssi/model/link.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/ssi/model/model.hpp"

namespace onset::ssi {
namespace {

std::vector<double> value(const Link& link, const std::vector<double>& z) {
  std::vector<double> out(link.outputs());
  link.values(1, z.data(), out.data());
  return out;
}

double softmax_entry(const std::vector<double>& z, std::size_t i, std::size_t j) {
  double sum = 0.0;
  for (const double x : z) sum += std::exp(z[i] * x);
  return std::exp(z[i] * z[j]) / sum;
}

TEST(SsiAttention, IsTheRowSoftmaxOfTheProducts) {
  for (const std::vector<double>& z :
       {std::vector<double>{0.4, -1.2}, {1.0, 0.3, -0.7}, {0.1, 0.2, 0.3, -2.0}}) {
    const auto link = attention_link({z.size(), Reduction::none, {}, {}});
    const auto f = value(*link, z);
    double trace = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      trace += softmax_entry(z, i, i);
      for (std::size_t j = 0; j < z.size(); ++j) {
        EXPECT_NEAR(f[i * z.size() + j], softmax_entry(z, i, j), 1e-14);
      }
    }
    EXPECT_NEAR(value(*attention_link({z.size(), Reduction::trace, {}, {}}), z)[0], trace, 1e-14);
    const double root = std::sqrt(static_cast<double>(z.size()));
    EXPECT_NEAR(value(*attention_link({z.size(), Reduction::trace_sqrt, {}, {}}), z)[0],
                trace / root, 1e-14);
  }
}

TEST(SsiAttention, SurvivesHugeFields) {
  const auto f = value(*attention_link({3, Reduction::none, {}, {}}), {100.0, -90.0, 3.0});
  for (const double x : f) EXPECT_TRUE(std::isfinite(x));
}

TEST(SsiAttention, AProjectionHasUnitVectors) {
  const std::vector<double> z{0.4, -1.2};
  const auto link = attention_link({2, Reduction::projection, {2.0, 0.0}, {0.0, 5.0}});
  EXPECT_NEAR(value(*link, z)[0], softmax_entry(z, 0, 1), 1e-14);
  EXPECT_THROW((void)attention_link({2, Reduction::projection, {0.0, 0.0}, {}}), InvalidArgument);
}

TEST(SsiLinks, PullbacksAreTheDerivatives) {
  std::vector<LinkPointer> links;
  for (const std::size_t tokens : {2u, 3u}) {
    for (const auto reduction :
         {Reduction::none, Reduction::trace, Reduction::trace_sqrt, Reduction::projection}) {
      links.push_back(attention_link({tokens, reduction, {}, {}}));
    }
    links.push_back(tied_link(read_activation("tanh"), tokens));
    links.push_back(read_target("He4sum", tokens));
  }
  links.push_back(mixture_link(0.8, 0.4));
  for (const LinkPointer& link : links) {
    std::vector<double> z{0.7, -0.4, 1.1};
    z.resize(link->tokens());
    std::vector<double> weight;
    for (std::size_t k = 0; k < link->outputs(); ++k)
      weight.push_back(0.5 + 0.3 * static_cast<double>(k));
    std::vector<double> delta(z.size());
    link->pullback(1, z.data(), value(*link, z).data(), weight.data(), delta.data());
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double h = 1e-5;
      auto plus = z;
      auto minus = z;
      plus[i] += h;
      minus[i] -= h;
      const auto up = value(*link, plus);
      const auto down = value(*link, minus);
      double slope = 0.0;
      for (std::size_t k = 0; k < weight.size(); ++k)
        slope += weight[k] * (up[k] - down[k]) / (2 * h);
      EXPECT_NEAR(delta[i], slope, 1e-8 * (1 + std::abs(slope)));
    }
  }
}

TEST(SsiLinks, NamesOfThePapersAreSums) {
  const std::vector<double> z{0.7, -0.4};
  const double he2 = z[0] * z[0] + z[1] * z[1] - 2.0;
  EXPECT_NEAR(value(*read_target("He2sum", 2), z)[0], he2, 1e-14);
  EXPECT_NEAR(value(*read_target("H2sum", 2), z)[0], he2 / std::sqrt(2.0), 1e-14);
  EXPECT_EQ(read_target("softmax", 3)->outputs(), 9u);
}

TEST(SsiLoss, WeightsAreItsDerivatives) {
  for (const SampleLoss loss :
       {SampleLoss::half_squared, SampleLoss::squared, SampleLoss::frobenius}) {
    std::vector<double> residual{0.3, -0.8, 0.1};
    std::vector<double> weight = residual;
    loss_weights(loss, 3, 1, weight.data());
    for (std::size_t k = 0; k < 3; ++k) {
      const double h = 1e-6;
      double up = 0.0;
      double down = 0.0;
      auto r = residual;
      r[k] += h;
      loss_values(loss, 3, 1, r.data(), &up);
      r[k] -= 2 * h;
      loss_values(loss, 3, 1, r.data(), &down);
      EXPECT_NEAR(weight[k], (up - down) / (2 * h), 1e-9);
    }
  }
  std::vector<double> perfect(3, 0.0);
  loss_weights(SampleLoss::frobenius, 3, 1, perfect.data());
  EXPECT_EQ(perfect, std::vector<double>(3, 0.0)) << "no NaN at a perfect fit";
}

TEST(SsiModel, SaysWhatDoesNotFit) {
  SequenceModel model;
  model.target = read_target("softmax", 2);
  model.student.link = attention_link({2, Reduction::trace, {}, {}});
  EXPECT_THROW(model.validate(), InvalidArgument);
  model.student.link = attention_link({3, Reduction::none, {}, {}});
  EXPECT_THROW(model.validate(), InvalidArgument);
}

}  // namespace
}  // namespace onset::ssi
