#include "onset/smi/model/posterior.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "onset/core/error.hpp"
#include "support/tolerances.hpp"
#include "unit/smi/model/posterior/posterior_cases.hpp"

namespace onset::smi {
namespace {

/// Second moments divide by V, 0.02 at least, what has cancelled before.
constexpr double rounding_over_v = 1e-9;

using namespace posterior_cases;

TEST(OneLayerPosterior, IsTheTanhOfTheClosedForm) {
  for (const int tokens : {2, 3, 5}) {
    const auto m = static_cast<std::size_t>(tokens);
    const DeepAttention model = attention_model(1, tokens, {1.0});
    for (const double v : {1.0, 0.5, 0.02}) {
      const Samples samples(model, {v}, 64, 3);
      const PosteriorMoments moments = ask(model, 256, samples.query());
      EXPECT_EQ(flat(moments.half[0]), flat(moments.half[1]));
      for (std::size_t i = 0; i < samples.count; ++i) {
        double dot = 0.0;
        double square_plus = 0.0;
        double square_minus = 0.0;
        for (std::size_t t = 0; t < m; ++t) {
          const double h = samples.label[t * 64 + i];
          const double w = samples.omega[t * 64 + i];
          dot += h * w;
          square_plus += (h - w) * (h - w);
          square_minus += (h + w) * (h + w);
        }
        const double tanh = std::tanh(dot / v);
        const double norm = std::pow(2.0 * std::numbers::pi * v, -0.5 * tokens);
        const double z =
            norm * (std::exp(-0.5 * square_plus / v) + std::exp(-0.5 * square_minus / v));
        EXPECT_NEAR(moments.half[0].log_z[i], std::log(z), tolerance::magnified_roundings);
        std::size_t pair = 0;
        for (std::size_t t = 0; t < m; ++t) {
          const double h_t = samples.label[t * 64 + i];
          const double w_t = samples.omega[t * 64 + i];
          const double mean = (h_t * tanh - w_t) / std::sqrt(v);
          EXPECT_NEAR(moments.half[0].mean[t * 64 + i], mean, tolerance::magnified_roundings);
          for (std::size_t s = 0; s <= t; ++s, ++pair) {
            const double h_s = samples.label[s * 64 + i];
            const double w_s = samples.omega[s * 64 + i];
            const double second = (h_t * h_s + w_t * w_s - (h_t * w_s + w_t * h_s) * tanh) / v;
            EXPECT_NEAR(moments.half[0].second[pair * 64 + i], second, rounding_over_v);
          }
        }
      }
    }
  }
}

TEST(AttentionPosterior, RefusesWhatItCannotIntegrate) {
  EXPECT_NO_THROW((void)attention_posterior(attention_model(1, 3, {1.0}), {}));
  EXPECT_TRUE(attention_posterior(attention_model(1, 3, {1.0}), {})->exact());
  EXPECT_FALSE(attention_posterior(attention_model(2, 2, {1.0}), {32, 1})->exact());
}

TEST(PosteriorOptions, NameTheFieldThatIsWrong) {
  for (const int nodes : {0, 8, 100, 1 << 21}) {
    try {
      PosteriorOptions{nodes, 1}.validate();
      ADD_FAILURE() << nodes;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.field(), "nodes");
    }
  }
}

}  // namespace
}  // namespace onset::smi
