#include "ssi/model/sample_slopes.hpp"

#include <gtest/gtest.h>

#include "support/ssi_models.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

// The slopes are those of the loss: central differences in every field of every sample.
TEST(SampleSlopes, AreTheDerivativesOfTheLoss) {
  const SequenceModel model = testing::mixture(1.0, 0.4);
  constexpr std::size_t samples = 2;
  const std::vector<double> teacher = {0.3, -1.1, 0.8, 0.2};
  std::vector<double> student = {0.5, 0.1, -0.4, 1.3};
  const SampleSlopes at = sample_slopes(model, samples, teacher.data(), student.data());
  constexpr double step = 1e-5;
  for (std::size_t p = 0; p < student.size(); ++p) {
    const double here = student[p];
    student[p] = here + step;
    const double above =
        sample_slopes(model, samples, teacher.data(), student.data()).loss[p % samples];
    student[p] = here - step;
    const double below =
        sample_slopes(model, samples, teacher.data(), student.data()).loss[p % samples];
    student[p] = here;
    EXPECT_NEAR(at.delta[p], (above - below) / (2.0 * step), tolerance::difference_quotient);
  }
}

}  // namespace
}  // namespace onset::ssi
