#include "smi/model/posterior/device_posterior.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "device/device.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"
#include "unit/smi/model/posterior/posterior_cases.hpp"

namespace onset::smi {
namespace {

using posterior_cases::attention_model;
using posterior_cases::Samples;

/// The plug-in of this machine, or the one of plain loops that the tests have built.
class DevicePosterior : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* const reference = std::getenv("ONSET_REFERENCE_DEVICE")) {
      setenv("ONSET_DEVICE_PLUGIN", reference, 0);
      ASSERT_NE(device::device().plugin, nullptr) << device::device().text;
    }
    if (device::device().plugin == nullptr) GTEST_SKIP() << device::device().text;
  }
};

PosteriorMoments asked(const Posterior& posterior, const DeepAttention& model,
                       const PosteriorQuery& query, bool between_blocks = false) {
  PosteriorMoments moments(model.shape(), query.count, between_blocks);
  posterior.moments(query, moments);
  return moments;
}

/// The largest difference of two lists, relative to numbers above one; infinite where there is what
/// is no number.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double worst = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double d = std::abs(a[k] - b[k]) / std::max(1.0, std::abs(a[k]));
    if (!std::isfinite(d)) return HUGE_VAL;
    worst = std::max(worst, d);
  }
  return worst;
}

void expect_close(const PosteriorMoments& a, const PosteriorMoments& b, double tolerance) {
  for (int h = 0; h < 2; ++h) {
    EXPECT_LT(distance(a.half[h].log_z, b.half[h].log_z), tolerance);
    EXPECT_LT(distance(a.half[h].mean, b.half[h].mean), tolerance);
    EXPECT_LT(distance(a.half[h].second, b.half[h].second), tolerance);
    EXPECT_LT(distance(a.half[h].cross, b.half[h].cross), tolerance);
    EXPECT_LT(distance(a.half[h].mean_bias, b.half[h].mean_bias), tolerance);
    EXPECT_LT(distance(a.half[h].second_bias, b.half[h].second_bias), tolerance);
  }
}

constexpr std::size_t samples_of_each = 40;
constexpr int nodes = 64;

TEST_F(DevicePosterior, HasTheMomentsOfTheProcessorForEveryNumberOfLayers) {
  for (int layers = 2; layers <= ONSET_DEVICE_LAYERS; ++layers) {
    SCOPED_TRACE(layers);
    const DeepAttention model = attention_model(layers, 2, {1.0});
    const auto of_device = device_posterior(model, {nodes, 3});
    const auto of_processor = attention_posterior(model, {nodes, 3});
    // Nothing learned; the last layer; all but the first; all of them, nearly.
    for (int stage = 0; stage < 4; ++stage) {
      SCOPED_TRACE(stage);
      std::vector<double> variance(static_cast<std::size_t>(layers), 1.0);
      if (stage > 0) variance.back() = 0.2;
      if (stage > 1) std::fill(variance.begin() + 1, variance.end(), 0.05);
      if (stage > 2) std::fill(variance.begin(), variance.end(), 1e-4);
      const Samples samples(model, variance, samples_of_each, 7);
      for (const PosteriorQuery& query : {samples.query(), samples.planted()}) {
        expect_close(asked(*of_processor, model, query), asked(*of_device, model, query),
                     tolerance::magnified_roundings);
      }
    }
  }
}

/// K = R^-1 - I of layers that all have the same correlation.
std::vector<double> even_coupling(int layers, double correlation) {
  const auto size = static_cast<std::size_t>(layers);
  const double others = static_cast<double>(layers - 1) * correlation;
  const double between =
      -correlation / ((1.0 - correlation) * (1.0 + others));  // by Sherman and Morrison
  std::vector<double> coupling(size * size, between);
  for (std::size_t l = 0; l < size; ++l) {
    coupling[l * size + l] = between - 1.0 + 1.0 / (1.0 - correlation);
  }
  return coupling;
}

TEST_F(DevicePosterior, HasTheMomentsBetweenLayersAlsoOfAPriorThatCouplesThem) {
  for (int layers = 2; layers <= ONSET_DEVICE_LAYERS; ++layers) {
    SCOPED_TRACE(layers);
    const DeepAttention model = attention_model(layers, 2, {1.0});
    const auto of_device = device_posterior(model, {nodes, 3});
    const auto of_processor = attention_posterior(model, {nodes, 3});
    EXPECT_TRUE(of_device->between_blocks());
    for (const double variance : {1.0, 0.3, 1e-3}) {
      std::vector<double> variances(static_cast<std::size_t>(layers), variance);
      variances.back() = 0.2 * variance;
      // Of eight layers the processor visits 256 choices of signs, array by array.
      const Samples samples(model, variances, layers > 5 ? 4 : samples_of_each, 7);
      for (const double correlation : {0.0, 0.05, -0.1, 0.6}) {
        SCOPED_TRACE(correlation);
        const std::vector<double> coupling = even_coupling(layers, correlation);
        PosteriorQuery query = samples.query();
        if (correlation != 0.0) query.coupling = coupling;
        expect_close(asked(*of_processor, model, query, true),
                     asked(*of_device, model, query, true), tolerance::magnified_roundings);
      }
    }
  }
}

/// Exponents of some 1e6 keep ten digits behind the point.
constexpr double rounding_of_exponents = 1e-7;

TEST_F(DevicePosterior, RescalesWeightsThatWouldUnderflow) {
  for (const double variance : {1e-3, 1e-6}) {
    SCOPED_TRACE(variance);
    const DeepAttention model = attention_model(3, 2, {1.0, 0.5});
    Samples samples(model, {variance, variance, variance}, samples_of_each, 11);
    // What is thought to be known does not go with the label: all nodes are far off.
    for (double& omega : samples.omega) omega += 2.0;
    const auto of_device = device_posterior(model, {nodes, 3});
    const auto of_processor = attention_posterior(model, {nodes, 3});
    expect_close(asked(*of_processor, model, samples.planted()),
                 asked(*of_device, model, samples.planted()), rounding_of_exponents);
    const std::vector<double> coupling = even_coupling(3, 0.05);
    PosteriorQuery coupled = samples.planted();
    coupled.coupling = coupling;
    const PosteriorMoments moments = asked(*of_device, model, coupled, true);
    EXPECT_TRUE(posterior_cases::all_finite(moments));
    // The processor's own weights underflow where the coupling, too, is far off.
    if (variance < 1e-4) continue;
    expect_close(asked(*of_processor, model, coupled, true), moments, rounding_of_exponents);
  }
}

TEST_F(DevicePosterior, TakesSkipsAndTemperaturesOfEveryKind) {
  for (const double beta : {0.3, 4.0}) {
    for (const std::vector<double>& skip : {std::vector{0.0}, std::vector{0.1, 3.0, 0.7}}) {
      const DeepAttention model = attention_model(4, 2, skip, beta);
      const Samples samples(model, {1.0, 0.4, 1.0, 0.1}, samples_of_each, 13);
      expect_close(asked(*attention_posterior(model, {nodes, 3}), model, samples.planted()),
                   asked(*device_posterior(model, {nodes, 3}), model, samples.planted()),
                   tolerance::magnified_roundings);
    }
  }
}

TEST_F(DevicePosterior, GivesTheSameBitsFromCallToCall) {
  const DeepAttention model = attention_model(5, 2, {1.0});
  const Samples samples(model, {1.0, 0.5, 0.2, 1.0, 0.05}, 300, 17);
  const auto first = device_posterior(model, {nodes, 3});
  const auto again = device_posterior(model, {nodes, 3});
  expect_close(asked(*first, model, samples.planted()), asked(*again, model, samples.planted()),
               std::numeric_limits<double>::denorm_min());
}

TEST_F(DevicePosterior, RefusesWhatItHasNot) {
  EXPECT_THROW((void)device_posterior(attention_model(2, 3, {1.0}), {}), InvalidArgument);
  EXPECT_THROW((void)device_posterior(attention_model(ONSET_DEVICE_LAYERS + 1, 2, {1.0}), {}),
               InvalidArgument);
}

}  // namespace
}  // namespace onset::smi
