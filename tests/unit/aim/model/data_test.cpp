#include "aim/model/data.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stop_token>

#include "onset/core/error.hpp"
#include "support/peak_memory.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

/// Tr S^2 scatters by about 2 / d from one teacher to the next; five of these.
constexpr double chance_of_the_teacher = 0.1;
/// Five times the 2.2 % to which 4000 samples know a variance.
constexpr double five_of_a_variance = 0.11;
/// The same of a variance that is twice as large.
constexpr double five_of_a_double_variance = 0.22;

TEST(AimData, ScoresHaveTheVariancesOfTheLimit) {
  // 4000 samples: a variance is known to 2.2 %; five of these, and the O(1/d) of Tr S^2.
  const auto model = model_of("linear", 2);
  const Problem p = draw(model, 100, 0.4);
  double diagonal = 0.0;
  double off = 0.0;
  for (std::size_t s = 0; s < p.data.samples; ++s) {
    diagonal += std::pow(p.data.labels[4 * s], 2) / static_cast<double>(p.data.samples);
    off += std::pow(p.data.labels[4 * s + 1], 2) / static_cast<double>(p.data.samples);
  }
  double q0 = 0.0;
  for (const double x : p.teacher.matrix) q0 += x * x / 100.0;
  EXPECT_NEAR(q0, 1.51, chance_of_the_teacher);
  EXPECT_NEAR(off / q0, 1.0, five_of_a_variance);
  EXPECT_NEAR(diagonal / q0, 2.0, five_of_a_double_variance);
}

TEST(AimData, TheFirstSamplesAreTheFirstSamples) {
  const Problem p = draw(model_of("linear", 2), 10, 0.2);
  const Dataset part = p.data.first(7);
  EXPECT_EQ(part.samples, 7U);
  EXPECT_EQ(part.inputs.size(), 7U * 2 * 10);
  EXPECT_EQ(part.labels.size(), 7U * 4);
  EXPECT_EQ(part.inputs.back(), p.data.inputs[7 * 2 * 10 - 1]);
  EXPECT_EQ(part.labels.back(), p.data.labels[7 * 4 - 1]);
}

/// Six standard errors of a variance from 16000 numbers: a false alarm in 500 million runs.
TEST(AimData, LabelNoiseHasTheVarianceOfItsKind) {
  auto model = model_of("linear", 2);
  const Problem clean = draw(model, 20, 40.0);
  model.noise_variance = 0.7;
  for (const NoiseKind kind : {NoiseKind::scaled, NoiseKind::equal}) {
    model.noise_kind = kind;
    const Problem noisy = draw(model, 20, 40.0);
    ASSERT_EQ(noisy.data.inputs, clean.data.inputs);
    std::array<double, 4> variance{};
    for (std::size_t i = 0; i < clean.data.labels.size(); ++i) {
      variance[i % 4] += std::pow(noisy.data.labels[i] - clean.data.labels[i], 2) /
                         static_cast<double>(clean.data.samples);
    }
    const double diagonal = kind == NoiseKind::scaled ? 1.4 : 0.7;
    const double within = 6.0 * std::sqrt(2.0 / 16000.0);
    EXPECT_NEAR(variance[1] / 0.7, 1.0, within);
    EXPECT_EQ(variance[1], variance[2]);
    EXPECT_NEAR(0.5 * (variance[0] + variance[3]) / diagonal, 1.0, within / std::sqrt(2.0));
  }
}

TEST(AimData, AreNotClearedBeforeAStopIsHeeded) {
  std::stop_source source;
  source.request_stop();
  Context context;
  context.stop = source.get_token();
  constexpr std::size_t samples = std::size_t{1} << 26;
  const double before = testing::peak_memory();
  EXPECT_THROW((void)sample_tokens(1, 1, samples, {}, context), Interrupted);
  EXPECT_LT(testing::peak_memory() - before, 0.5 * 8.0 * static_cast<double>(samples));
}

}  // namespace
}  // namespace onset::aim
