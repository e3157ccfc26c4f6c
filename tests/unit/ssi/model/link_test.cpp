#include "onset/ssi/model/link.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

std::vector<double> value(const Link& link, const std::vector<double>& z) {
  std::vector<double> out(link.outputs());
  link.values(1, z.data(), out.data());
  return out;
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
  EXPECT_NEAR(value(*read_target("He2sum", 2), z)[0], he2, tolerance::dozens_of_roundings);
  EXPECT_NEAR(value(*read_target("H2sum", 2), z)[0], he2 / std::sqrt(2.0),
              tolerance::dozens_of_roundings);
  EXPECT_EQ(read_target("softmax", 3)->outputs(), 9u);
}

}  // namespace
}  // namespace onset::ssi
