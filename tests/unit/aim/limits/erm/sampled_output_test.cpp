#include <gtest/gtest.h>

#include <cmath>

#include "aim/limits/erm/training_output.hpp"
#include "aim/model/channel.hpp"
#include "onset/numerics/replicates.hpp"

namespace onset::aim {
namespace {

AttentionIndexed model_of(const Channel& channel, int tokens) {
  AttentionIndexed model;
  model.channel = &channel;
  model.tokens = tokens;
  model.noise_variance = channel.name() == "hardmax" ? 0.0 : 0.2;
  return model;
}

Estimate mean_of(const TrainingOutput& output, const Overlaps& o,
                 double (*value)(const OutputMoments&)) {
  std::vector<double> all;
  for (std::size_t rule = 1; rule < output.rules(); ++rule)
    all.push_back(value(output.at(o, rule)));
  return numerics::reduce(all);
}

/// With 15 degrees of freedom seven errors fail one time in a million.
constexpr double errors = 7.0;

/// A quadratic loss through the general code: q_hat, m_hat = chi_hat in closed form [aim 90].
TEST(SampledOutput, HasTheClosedFormOfLinearLabels) {
  const auto output = sampled_output(model_of(linear_channel(), 2), TrainingLoss::square, 1);
  const Overlaps o{1.1, 1.2, 0.7};
  const double conjugate = 3.0 / (o.chi + 0.25);
  const double rest = 1.7 - 2.0 * o.overlap + o.norm;  // E + s
  const Estimate m = mean_of(*output, o, [](const OutputMoments& x) { return x.hats.overlap; });
  const Estimate chi = mean_of(*output, o, [](const OutputMoments& x) { return x.hats.chi; });
  const Estimate q = mean_of(*output, o, [](const OutputMoments& x) { return x.hats.norm; });
  EXPECT_NEAR(m.value, conjugate, errors * m.error);
  EXPECT_NEAR(chi.value, conjugate, errors * chi.error);
  EXPECT_NEAR(q.value, 3.0 * rest / ((o.chi + 0.25) * (o.chi + 0.25)), errors * q.error);
  EXPECT_LT(m.error, 0.02 * conjugate);
}

/// Two tokens by points and by grids.
TEST(LongSampledOutput, AgreesWithTheGridsOfTwoTokens) {
  const Overlaps o{0.8, 0.9, 3.0};
  for (const auto& [channel, loss] : {std::pair{&softmax_channel(), TrainingLoss::square},
                                      {&softmax_channel(), TrainingLoss::cross_entropy},
                                      {&hardmax_channel(), TrainingLoss::cross_entropy}}) {
    const AttentionIndexed model = model_of(*channel, 2);
    const auto points = sampled_output(model, loss, 1);
    const auto grid = training_output(model, loss, 1);
    const OutputMoments exact = grid->at(o, 2);
    for (double (*value)(const OutputMoments&) : {
             +[](const OutputMoments& x) { return x.hats.norm; },
             +[](const OutputMoments& x) { return x.hats.overlap; },
             +[](const OutputMoments& x) { return x.hats.chi; },
             +[](const OutputMoments& x) { return x.train; },
             +[](const OutputMoments& x) { return x.least; },
             +[](const OutputMoments& x) { return x.sensitivity; },
         }) {
      const Estimate found = mean_of(*points, o, value);
      EXPECT_NEAR(found.value, value(exact), errors * found.error);
      EXPECT_LT(found.error, 0.05 * std::abs(found.value));
    }
  }
}

}  // namespace
}  // namespace onset::aim
