#include "smi/learners/spectral_start.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "onset/numerics/replicates.hpp"
#include "smi/limits/spectral.hpp"
#include "smi/model/typed/typed_model.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// Student's law of 15 degrees of freedom is beyond seven errors with a probability of 4e-6; the
/// seeds are fixed.
constexpr double many_errors = 7.0;
constexpr std::uint64_t runs = 16;

/// A link, its law, and one set of data with its start.
struct Started {
  explicit Started(const char* text)
      : link(std::make_shared<const TypedLink>(text, 0.0)),
        model(typed_model(link, link->tokens())),
        law(spectral_law(*link, 1, {})) {}

  void draw(std::size_t dim, double alpha, std::uint64_t run) {
    const auto samples = static_cast<std::size_t>(std::lround(alpha * static_cast<double>(dim)));
    data = draw_dataset(*model, dim, samples, 1, run, {});
    const SampleExcess excess = sample_excess(*link, data.labels, data.tokens, 1, {});
    start = spectral_start(law, sign_blocks(*link), excess, data, 1, {});
  }

  [[nodiscard]] MessagePassing pass(int iterations) const {
    MessagePassingOptions options;
    options.max_iterations = iterations;
    options.restarts = 0;
    return message_passing(*model, data, options, 0, {}, &*start);
  }

  std::shared_ptr<const TypedLink> link;
  std::unique_ptr<SequenceModel> model;
  SpectralLaw law;
  Dataset data;
  std::optional<MessageStart> start;
};

Estimate mean_of(const std::vector<double>& values) {
  return numerics::mean_over_runs(values);
}

// [links 38]: m^2 = 1 - Theta, 0.230697 at twice the threshold.
TEST(SpectralStart, BeginsWithTheOverlapThatTheLimitPredicts) {
  Started square("z1^2");
  std::vector<double> overlaps;
  for (std::uint64_t run = 0; run < runs; ++run) {
    square.draw(250, 1.0, run);
    ASSERT_TRUE(square.start);
    const MessagePassingStep first = square.pass(1).steps.front();
    EXPECT_EQ(first.iteration, 0);
    // The algorithm knows what it knows: norm and V are those of the limit.
    constexpr double sixth_digit = 1e-6;
    EXPECT_NEAR(first.block[0].norm, 0.230697, sixth_digit);
    EXPECT_NEAR(first.variance[0], 1.0 - 0.230697, sixth_digit);
    overlaps.push_back(first.block[0].cosine * first.block[0].cosine);
  }
  const Estimate mean = mean_of(overlaps);
  EXPECT_NEAR(mean.value, 0.230697, many_errors * mean.error);
}

// Given the field z of a sample, its cavity field has mean Q z and variance Q (1 - Q), Q = 1 - V,
// as every field of message passing: not so X w, which has seen the sample's label.
TEST(SpectralStart, CavityFieldsHaveTheLawOfMessagePassing) {
  Started square("z1^2");
  constexpr std::size_t dim = 1500;
  square.draw(dim, 1.0, 0);
  ASSERT_TRUE(square.start);
  double counts[2] = {}, found[2] = {}, raw[2] = {}, expected[2] = {};
  double overlap = 0.0, norm = 0.0;
  const MessageStart& start = *square.start;
  for (std::size_t d = 0; d < dim; ++d) {
    overlap += start.weights[d] * square.data.teacher[d];
    norm += square.data.teacher[d] * square.data.teacher[d];
  }
  // The mean follows from this run's own overlap with its teacher.
  const double slope = std::abs(overlap) / norm;
  const double variance = start.variance.front();
  for (std::size_t i = 0; i < square.data.samples; ++i) {
    const double* x = square.data.inputs.data() + i * dim;
    double field = 0.0, teacher = 0.0;
    for (std::size_t d = 0; d < dim; ++d) {
      field += x[d] * start.weights[d] / std::sqrt(static_cast<double>(dim));
      teacher += x[d] * square.data.teacher[d] / std::sqrt(norm);
    }
    const double cavity = field - variance * start.messages[i];
    const std::size_t bin = std::abs(teacher) > 1.5 ? 1 : (std::abs(teacher) < 0.5 ? 0 : 2);
    if (bin == 2) continue;
    counts[bin] += 1.0;
    found[bin] += cavity * cavity;
    raw[bin] += field * field;
    expected[bin] += slope * slope * teacher * teacher + (1.0 - variance) - slope * slope;
  }
  for (const int bin : {0, 1}) {
    // Squares of normal numbers: five relative standard deviations of their mean.
    const double chance = 5.0 * std::sqrt(2.0 / counts[bin]);
    EXPECT_NEAR(found[bin] / expected[bin], 1.0, chance) << bin;
    EXPECT_GT(std::abs(raw[bin] / expected[bin] - 1.0), 2.0 * chance) << bin;
  }
}

TEST(SpectralStart, IsNothingBelowTheThresholdAndForLabelsWithAMean) {
  Started square("z1^2");
  square.draw(250, 0.55, 0);  // alpha_c (1 + D^{-1/3}) = 0.579
  EXPECT_FALSE(square.start);
  Started sign("sign(z1)");
  sign.draw(100, 5.0, 0);
  EXPECT_FALSE(sign.start);
}

// Labels show the two directions apart, whose blocks are put side by side: [links 41] gives each
// row the length that its variance leaves, and nothing is between the blocks.
TEST(SpectralStart, BlocksStandSideBySide) {
  Started both("z1^2, abs(z2)");
  constexpr std::size_t dim = 150;
  both.draw(dim, 1.5, 0);
  ASSERT_TRUE(both.start);
  const MessageStart& start = *both.start;
  ASSERT_EQ(start.directions, (std::vector<std::size_t>{0, 1}));
  ASSERT_EQ(start.variance.size(), 4U);
  EXPECT_EQ(start.variance[1], 0.0);
  EXPECT_EQ(start.variance[2], 0.0);
  EXPECT_EQ(start.messages.size(), 2 * both.data.samples);
  ASSERT_EQ(start.weights.size(), 2 * dim);
  for (const std::size_t p : {0U, 1U}) {
    double square = 0.0;
    for (std::size_t j = 0; j < dim; ++j) square += std::pow(start.weights[p * dim + j], 2.0);
    EXPECT_NEAR(square / dim, 1.0 - start.variance[3 * p], tolerance::many_roundings);
  }
}

// Two outliers, (z1+z2) and (z1-z2), whose eigenvectors no one tells apart: the start has both, and
// z1 and z2 with the same overlap, 0.329424 [links 40].
TEST(LongSpectralStart, DegenerateEigenvectorsAreSharedOut) {
  Started product("z1*z2");
  std::vector<double> overlaps[2];
  for (std::uint64_t run = 0; run < runs; ++run) {
    product.draw(200, 1.6, run);
    ASSERT_TRUE(product.start);
    ASSERT_EQ(product.start->directions.size(), 2U);
    const MessagePassingStep first = product.pass(1).steps.front();
    for (const std::size_t p : {0U, 1U}) {
      overlaps[p].push_back(std::pow(first.block[p].cosine, 2.0));
    }
  }
  for (const auto& one : overlaps) {
    const Estimate mean = mean_of(one);
    EXPECT_NEAR(mean.value, 0.329424, many_errors * mean.error);
  }
}

}  // namespace
}  // namespace onset::smi
