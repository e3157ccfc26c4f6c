#include "onset/ssi/model/loss.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace onset::ssi {
namespace {

/// Losses are quadratic or nearly so: differences err by rounding over the step alone.
constexpr double exact_difference_quotient = 1e-9;

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
      EXPECT_NEAR(weight[k], (up - down) / (2 * h), exact_difference_quotient);
    }
  }
  std::vector<double> perfect(3, 0.0);
  loss_weights(SampleLoss::frobenius, 3, 1, perfect.data());
  EXPECT_EQ(perfect, std::vector<double>(3, 0.0)) << "no NaN at a perfect fit";
}

}  // namespace
}  // namespace onset::ssi
