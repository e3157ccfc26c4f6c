#include "smi/model/untied/untied_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "onset/smi/limits/channel.hpp"
#include "onset/smi/limits/staircase.hpp"
#include "onset/testing/check_model.hpp"
#include "smi/limits/evolution.hpp"
#include "smi/model/untied/scale_integral.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// Student t of 15 degrees of freedom (16 replicates) beyond 11: odds of 1.4e-8. Seeds are fixed.
constexpr double far_out = 11.0;
/// Both rules for integrals over the scale leave less than this.
constexpr double two_rules = 1e-9;

/// The same moments by a plain sum over log t with very many points.
ScaleMoments plain_moments(const ScalePrior& p) {
  ScaleMoments out;
  constexpr double step = 1e-4;
  for (double u = -12.0; u < 8.0; u += step) {
    const double t = std::exp(u);
    for (const double s : {1.0, -1.0}) {
      const double d = s * t - p.query, e = s * p.rho / t - p.key;
      const double w =
          step * t * std::exp(-0.5 * d * d / p.query_variance - 0.5 * e * e / p.key_variance);
      out.log_sum += w;
      out.query += w * d;
      out.query_square += w * d * d;
      out.key += w * e;
      out.key_square += w * e * e;
    }
  }
  for (double* x : {&out.query, &out.query_square, &out.key, &out.key_square}) *x /= out.log_sum;
  out.log_sum = std::log(out.log_sum);
  return out;
}

TEST(SmiUntied, ScaleIntegralsAgreeWithAPlainSum) {
  for (const ScalePrior& p :
       {ScalePrior{1.3, 0.0, 0.0, 1.0, 1.0}, ScalePrior{0.02, 0.3, -0.2, 0.9, 0.7},
        ScalePrior{5.0, 2.1, 2.0, 0.3, 0.05}, ScalePrior{0.8, -1.1, 0.4, 0.5, 0.6},
        ScalePrior{2.0, 1.42, 1.39, 1e-3, 2e-3}, ScalePrior{1.0, -0.9, -1.2, 0.02, 0.4}}) {
    const ScaleMoments found = scale_moments(p), plain = plain_moments(p);
    EXPECT_NEAR(found.log_sum, plain.log_sum, two_rules);
    EXPECT_NEAR(found.query, plain.query, two_rules);
    EXPECT_NEAR(found.query_square, plain.query_square, two_rules);
    EXPECT_NEAR(found.key, plain.key, two_rules);
    EXPECT_NEAR(found.key_square, plain.key_square, two_rules);
  }
}

TEST(SmiUntied, TheModelIsConsistent) {
  for (const int tokens : {2, 3}) {
    const auto model = untied_model({.tokens = tokens});
    const testing::ModelReport report = testing::check_model(*model);
    for (const std::string& finding : report.findings) ADD_FAILURE() << tokens << ": " << finding;
  }
}

TEST(SmiUntied, GrowthRatesAreThoseOfTheClosedForm) {
  for (const int tokens : {2, 4}) {
    const auto model = untied_model({.tokens = tokens});
    const double m = tokens;
    const double own[] = {m * m - 1.0, (m - 1.0) * (m - 1.0)};
    const std::vector<double> nothing{1.0, 1.0};
    const ChannelInformation info = Channel(*model, {.points = 4096}).at(nothing, {});
    for (std::size_t b = 0; b < 2; ++b) {
      const Estimate growth = numerics::reduce(info.growth[b]);
      EXPECT_NEAR(growth.value, own[b], far_out * growth.error);
    }
    // Psi at overlap 0, in closed form and by sampling.
    const Estimate psi = numerics::reduce(info.log_evidence);
    const auto at_zero = model->channel_at_zero({}, {});
    ASSERT_TRUE(at_zero);
    EXPECT_NEAR(psi.value, at_zero->log_evidence.front(), far_out * psi.error + two_rules);
  }
}

TEST(SmiUntied, SmallOverlapsGrowTogetherByTheLargestEigenvalue) {
  const auto model = untied_model({});
  constexpr double alpha = 0.4;
  const double rate = 2.0 + std::sqrt(5.0);
  EvolutionOptions options;
  options.chance = 1e-9;
  options.start = {1e-6, 1e-6 * (rate - 3.0) / 2.0};  // the eigenvector of [smi 91]
  options.iterations = 2;
  const EvolvedOverlaps found = evolve(*model, alpha, options, {});
  for (std::size_t t = 1; t < found.points.size(); ++t) {
    for (std::size_t b = 0; b < 2; ++b) {
      const Estimate& now = found.points[t].overlap[b];
      const double expected = options.start[b] * std::pow(alpha * rate, static_cast<double>(t));
      // Terms of second order are 1e-5 of it.
      constexpr double second_order = 1e-4;
      EXPECT_NEAR(now.value, expected, far_out * now.error + second_order * expected);
    }
  }
}

TEST(SmiUntied, BothStartToBeLearnedAtOnceAndAreRecoveredByCounting) {
  StaircaseOptions options;
  options.tolerance = 5e-3;
  const auto model = untied_model({});
  const Staircase stairs = staircase(*model, options, {});
  ASSERT_EQ(stairs.steps.size(), 1u);
  EXPECT_EQ(stairs.steps[0].blocks, (std::vector<std::size_t>{0, 1}));
  EXPECT_NEAR(stairs.steps[0].alpha.value, 1.0 / (2.0 + std::sqrt(5.0)),
              tolerance::hundreds_of_roundings);
  ASSERT_TRUE(stairs.perfect);
  EXPECT_EQ(*stairs.perfect, 1.0);
  EXPECT_TRUE(stairs.sound);
}

TEST(SmiUntied, ALabelIsReadBackFromItsMatrix) {
  for (const int tokens : {2, 3, 5}) {
    const auto model = untied_model({.tokens = tokens, .beta = 0.7});
    const auto m = static_cast<std::size_t>(tokens);
    std::vector<double> fields(2 * m), label(2 * m - 1), again(2 * m - 1), matrix(m * m),
        direct(m * m);
    numerics::Stream(3, "untied labels").normal(fields);
    model->label(fields, {}, label);
    model->label_form()->write(label, matrix);
    model->prediction(fields, direct);
    ASSERT_EQ(model->label_form()->read(matrix, again), "");
    model->label_form()->choose_representative(label);
    model->label_form()->choose_representative(again);
    for (std::size_t k = 0; k < matrix.size(); ++k) {
      EXPECT_NEAR(matrix[k], direct[k], tolerance::hundreds_of_roundings);
    }
    for (std::size_t k = 0; k < label.size(); ++k) {
      EXPECT_NEAR(label[k], again[k], tolerance::magnified_roundings);
    }
  }
}

TEST(SmiUntied, WrongOptionsAreNamed) {
  EXPECT_THROW((void)untied_model({.tokens = 1}), InvalidArgument);
  EXPECT_THROW((void)untied_model({.beta = 0.0}), InvalidArgument);
}

}  // namespace
}  // namespace onset::smi
