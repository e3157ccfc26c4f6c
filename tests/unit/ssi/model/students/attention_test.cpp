#include "onset/ssi/model/student.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

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
        EXPECT_NEAR(f[i * z.size() + j], softmax_entry(z, i, j), tolerance::dozens_of_roundings);
      }
    }
    EXPECT_NEAR(value(*attention_link({z.size(), Reduction::trace, {}, {}}), z)[0], trace,
                tolerance::dozens_of_roundings);
    const double root = std::sqrt(static_cast<double>(z.size()));
    EXPECT_NEAR(value(*attention_link({z.size(), Reduction::trace_sqrt, {}, {}}), z)[0],
                trace / root, tolerance::dozens_of_roundings);
  }
}

TEST(SsiAttention, SurvivesHugeFields) {
  const auto f = value(*attention_link({3, Reduction::none, {}, {}}), {100.0, -90.0, 3.0});
  for (const double x : f) EXPECT_TRUE(std::isfinite(x));
}

TEST(SsiAttention, AProjectionHasUnitVectors) {
  const std::vector<double> z{0.4, -1.2};
  const auto link = attention_link({2, Reduction::projection, {2.0, 0.0}, {0.0, 5.0}});
  EXPECT_NEAR(value(*link, z)[0], softmax_entry(z, 0, 1), tolerance::dozens_of_roundings);
  EXPECT_THROW((void)attention_link({2, Reduction::projection, {0.0, 0.0}, {}}), InvalidArgument);
}

}  // namespace
}  // namespace onset::ssi
