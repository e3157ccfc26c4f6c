#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "mha/model/canonical.hpp"
#include "support/complaint.hpp"
#include "support/contexts.hpp"
#include "support/tolerances.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::law_of;

/// F by its definition, entry by entry.
template <class Entry>
double output_entry(const Layer& layer, const Entry* x, int tokens, int a, int o) {
  const int d = layer.dim;
  long double sum = 0.0L;
  for (int i = 0; i < layer.heads; ++i) {
    std::vector<long double> weight(static_cast<std::size_t>(tokens));
    long double total = 0.0L;
    for (int b = 0; b < tokens; ++b) {
      long double logit = 0.0L;
      for (int c = 0; c < d; ++c) {
        for (int e = 0; e < d; ++e) {
          logit += static_cast<long double>(x[a * d + c]) *
                   layer.theta_of(i)[static_cast<std::size_t>(c * d + e)] * x[b * d + e];
        }
      }
      total += weight[static_cast<std::size_t>(b)] = std::exp(logit);
    }
    for (int b = 0; b < tokens; ++b) {
      for (int c = 0; c < d; ++c) {
        sum += weight[static_cast<std::size_t>(b)] / total * x[b * d + c] *
               layer.w_of(i)[static_cast<std::size_t>(c * d + o)];
      }
    }
  }
  return static_cast<double>(sum);
}

TEST(MhaLayer, OutputsAreTheSumOverHeadsOfAttendedTokensTimesProjections) {
  const auto drawn = draw(law_of(3, 5, 4, 4.0), 20, 1);
  for (std::size_t n = 0; n < drawn.examples.count; ++n) {
    for (int a = 0; a < 4; ++a) {
      for (int o = 0; o < 5; ++o) {
        const std::size_t at = n * 20 + static_cast<std::size_t>(a * 5 + o);
        EXPECT_NEAR(drawn.examples.y[at],
                    output_entry(drawn.truth, &drawn.examples.x[n * 20], 4, a, o),
                    tolerance::hundreds_of_roundings);
      }
    }
  }
}

TEST(MhaLayer, RealInputsGoThroughTheSameLayer) {
  InstanceLaw law = law_of(2, 4, 3, 2.0);
  law.inputs = Inputs::gaussian;
  const auto drawn = draw(law, 20, 1);
  ASSERT_TRUE(drawn.examples.real());
  EXPECT_TRUE(drawn.examples.x.empty());
  for (std::size_t n = 0; n < drawn.examples.count; ++n) {
    for (std::size_t e = 0; e < 12; ++e) {
      EXPECT_NEAR(drawn.examples.y[n * 12 + e],
                  output_entry(drawn.truth, &drawn.examples.real_x[n * 12], 3,
                               static_cast<int>(e / 4), static_cast<int>(e % 4)),
                  tolerance::hundreds_of_roundings);
    }
  }
}

TEST(MhaLayer, SaturatedLogitsGiveFiniteOutputs) {
  const auto drawn = draw(law_of(2, 6, 3, 900.0), 50, 2);
  for (const double y : drawn.examples.y) EXPECT_TRUE(std::isfinite(y));
}

TEST(MhaLayer, IsOddInItsInputAndFollowsPermutationsOfTokens) {
  const auto drawn = draw(law_of(2, 6, 3, 3.0), 30, 3);
  Examples inputs = drawn.examples;
  std::vector<std::int8_t>& turned = inputs.x;
  for (std::size_t n = 0; n < 30; ++n) {
    std::rotate(&turned[n * 18], &turned[n * 18 + 6], &turned[n * 18] + 18);
    for (std::size_t e = 0; e < 18; ++e)
      turned[n * 18 + e] = static_cast<std::int8_t>(-turned[n * 18 + e]);
  }
  const std::vector<double> y = forward(drawn.truth, inputs, {});
  for (std::size_t n = 0; n < 30; ++n) {
    for (std::size_t e = 0; e < 18; ++e) {
      EXPECT_NEAR(y[n * 18 + e], -drawn.examples.y[n * 18 + (e + 6) % 18],
                  tolerance::hundreds_of_roundings);
    }
  }
}

TEST(MhaExamples, OneOfEveryOrbitIsKept) {
  // All of {-1, 1}^{2 x 3}: orbits under exchange of the tokens and a common sign, counted by hand
  // with Burnside's lemma: (64 + 8 + 0 + 8) / 4.
  Examples all{64, 2, 3, {}, {}};
  for (int bits = 0; bits < 64; ++bits) {
    for (int e = 0; e < 6; ++e) all.x.push_back((bits >> e & 1) != 0 ? 1 : -1);
  }
  all.y.resize(all.x.size());
  const std::vector<std::uint32_t> kept = distinct_examples(all);
  EXPECT_EQ(kept.size(), 20U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  EXPECT_EQ(kept.front(), 0U);
}

TEST(MhaExamples, RealInputsRepeatUpToSignAndOrderOfTokensOnly) {
  InstanceLaw law = law_of(2, 3, 2, 2.0);
  law.inputs = Inputs::gaussian;
  Examples examples = draw(law, 30, 2).examples;
  EXPECT_EQ(distinct_examples(examples).size(), 30U);
  for (std::size_t e = 0; e < 6; ++e) {  // the first with tokens exchanged and sign turned
    examples.real_x.push_back(-examples.real_x[(e + 3) % 6]);
    examples.y.push_back(-examples.y[(e + 3) % 6]);
  }
  ++examples.count;
  EXPECT_EQ(distinct_examples(examples).size(), 30U);
  const Repeats repeats = compare_repeats(examples, 1e-12);
  EXPECT_EQ(repeats.count, 1U);
  EXPECT_EQ(repeats.different, 0U);
  examples.real_x.back() = std::nextafter(examples.real_x.back(), 10.0);
  EXPECT_EQ(distinct_examples(examples).size(), 31U);
}

TEST(MhaExamples, DistinctInputsCountsTheOrbitsOfAllInputs) {
  for (const auto& [tokens, dim] : {std::pair(1, 3), {2, 2}, {2, 3}, {3, 2}, {3, 3}, {4, 2}}) {
    const int bits = tokens * dim;
    Examples all{std::size_t{1} << bits, tokens, dim, {}, {}};
    for (std::size_t n = 0; n < all.count; ++n) {
      for (int b = 0; b < bits; ++b) all.x.push_back((n >> b & 1) != 0 ? 1 : -1);
    }
    EXPECT_EQ(distinct_inputs(tokens, dim), static_cast<double>(distinct_examples(all).size()))
        << tokens << " tokens of dimension " << dim;
  }
  EXPECT_EQ(distinct_inputs(2, 8), 16512.0);
}

TEST(MhaInstance, OptionsWithoutEffectAreRefused) {
  InstanceLaw parity = testing::law_of(4, 8, 2, 3.0);
  parity.degeneracy = Degeneracy::parity;
  parity.coherence = 0.1;
  EXPECT_EQ(onset::testing::wrong_field([&] { parity.validate(); }), "coherence");
  parity.coherence = 0.0;
  parity.inputs = Inputs::gaussian;
  EXPECT_EQ(onset::testing::wrong_field([&] { parity.validate(); }), "inputs");
  for (const Degeneracy kind : {Degeneracy::cancelling, Degeneracy::proportional}) {
    InstanceLaw alone = testing::law_of(1, 8, 2, 3.0);
    alone.degeneracy = kind;
    EXPECT_EQ(onset::testing::wrong_field([&] { alone.validate(); }), "heads");
  }
}

TEST(MhaInstance, NormsFollowTheLaw) {
  // |theta|^2 of 24 x 24 entries has relative standard deviation sqrt(2 / 576) = 6 %; five of them.
  constexpr double five_deviations = 5 * 0.06;
  const Layer layer = draw_layer(law_of(2, 24, 2, 5.0), 4);
  for (int i = 0; i < 2; ++i) {
    double theta = 0.0;
    double w = 0.0;
    for (const double v : layer.theta_of(i)) theta += v * v;
    for (const double v : layer.w_of(i)) w += v * v;
    EXPECT_NEAR(theta, 25.0, five_deviations * 25.0);
    EXPECT_NEAR(w, 24.0, five_deviations * 24.0);
  }
}

TEST(MhaInstance, GaussianInputsAreStandardNormal) {
  InstanceLaw law = law_of(1, 8, 2, 3.0);
  law.inputs = Inputs::gaussian;
  const Examples examples = draw(law, 4000, 5).examples;
  double mean = 0.0;
  double square = 0.0;
  for (const double x : examples.real_x) {
    mean += x / 64000;
    square += x * x / 64000;
  }
  // Standard errors of 64 000 draws: 1/sqrt(64000) and sqrt(2/64000); five of them (1e-6).
  EXPECT_NEAR(mean, 0.0, 5 / std::sqrt(64000.0));
  EXPECT_NEAR(square, 1.0, 5 * std::sqrt(2 / 64000.0));
}

TEST(MhaInstance, NoiseHasItsStandardDeviation) {
  InstanceLaw law = law_of(2, 8, 2, 3.0);
  law.noise = 0.25;
  const Layer layer = draw_layer(law, 5);
  const Examples noisy = draw_examples(law, layer, 4000, 5, "mha examples", {});
  law.noise = 0.0;
  const Examples clean = draw_examples(law, layer, 4000, 5, "mha examples", {});
  EXPECT_EQ(noisy.x, clean.x);
  double sum = 0.0;
  for (std::size_t e = 0; e < clean.y.size(); ++e) {
    sum += (noisy.y[e] - clean.y[e]) * (noisy.y[e] - clean.y[e]);
  }
  // 64 000 draws: relative standard deviation 0.28 % of the square root; five of them.
  constexpr double five_deviations = 5 * 0.0028;
  EXPECT_NEAR(std::sqrt(sum / 64000), 0.25, five_deviations * 0.25);
}

TEST(MhaInstance, DegenerateLayersAreWhatTheySay) {
  InstanceLaw law = law_of(3, 6, 2, 3.0);
  law.degeneracy = Degeneracy::cancelling;
  EXPECT_LT(testing::sum_of_w(draw_layer(law, 6)).norm(), 1e-14);
  law.degeneracy = Degeneracy::proportional;
  const Layer layer = draw_layer(law, 6);
  for (std::size_t c = 0; c < 36; ++c)
    EXPECT_NEAR(layer.w_of(1)[c], 0.7 * layer.w_of(0)[c], tolerance::few_roundings);
  law.heads = 4;
  law.degeneracy = Degeneracy::parity;
  EXPECT_LT(testing::sum_of_w(draw_layer(law, 6)).norm(), 1e-14);
  law.heads = 3;
  EXPECT_EQ(onset::testing::wrong_field([&] { law.validate(); }), "heads");
}

TEST(MhaInstance, AParityIsOneOfTheBitsOfTwoTokens) {
  // [mha 28] with logits so large that attention is 0 or 1: labels vanish where bit 1 agrees, and
  // else have the factor -x_a0 x_b1 (1 - parity)/2, parity = prod over S of -x_ac x_bc.
  for (const int heads : {2, 4, 6, 8}) {
    InstanceLaw law = law_of(heads, 8, 2, 100.0);
    law.degeneracy = Degeneracy::parity;
    const auto drawn = draw(law, 300, 3);
    for (std::size_t n = 0; n < 300; ++n) {
      for (std::size_t a = 0; a < 2; ++a) {
        const std::int8_t* query = &drawn.examples.x[n * 16 + a * 8];
        const std::int8_t* other = &drawn.examples.x[n * 16 + (1 - a) * 8];
        int parity = 1;
        for (int c = 2; c < 2 + heads / 2; ++c) parity *= -query[c] * other[c];
        const double factor =
            query[1] == other[1] ? 0.0 : -query[0] * other[1] * 0.5 * (1 - parity);
        for (std::size_t o = 0; o < 8; ++o) {
          double label = 0.0;
          for (std::size_t c = 0; c < 8; ++c) {
            label += factor * (other[c] - query[c]) * drawn.truth.w_of(0)[c * 8 + o];
          }
          EXPECT_NEAR(drawn.examples.y[n * 16 + a * 8 + o], label,
                      tolerance::hundreds_of_roundings);
        }
      }
    }
  }
}

TEST(MhaInstance, ExamplesAreTheSameForAnyNumberOfThreads) {
  InstanceLaw law = law_of(2, 8, 3, 3.0);
  law.noise = 0.1;
  const Layer layer = draw_layer(law, 7);
  const Examples one = draw_examples(law, layer, 9000, 7, "p", onset::testing::with_threads(1));
  const Examples three = draw_examples(law, layer, 9000, 7, "p", onset::testing::with_threads(3));
  EXPECT_EQ(one.x, three.x);
  EXPECT_EQ(one.y, three.y);
}

TEST(MhaCanonical, MergesEqualHeadsDropsEmptyOnesAndKeepsTheFunction) {
  const auto drawn = draw(law_of(2, 4, 3, 3.0), 40, 8);
  Layer redundant = make_layer(4, 4);
  const auto put = [&](int to, int from, double share) {
    for (std::size_t c = 0; c < 16; ++c) {
      redundant.theta[static_cast<std::size_t>(to) * 16 + c] = drawn.truth.theta_of(from)[c];
      redundant.w[static_cast<std::size_t>(to) * 16 + c] = share * drawn.truth.w_of(from)[c];
    }
  };
  put(0, 0, 0.25);
  put(1, 1, 1.0);
  put(2, 0, 0.75);  // head 3 has no theta and no w
  const Layer found = canonical(redundant, 1e-9);
  ASSERT_EQ(found.heads, 2);
  const std::vector<double> y = forward(found, drawn.examples, {});
  for (std::size_t e = 0; e < y.size(); ++e)
    EXPECT_NEAR(y[e], drawn.examples.y[e], tolerance::hundreds_of_roundings);
  double last = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 2; ++i) {
    double size = 0.0;
    for (const double v : found.w_of(i)) size += v * v;
    EXPECT_LE(size, last);
    last = size;
  }
}

TEST(MhaCanonical, ErrorsDoNotDependOnTheOrderOfHeads) {
  const Layer truth = draw_layer(law_of(3, 4, 2, 3.0), 9);
  Layer found = truth;
  std::rotate(found.theta.begin(), found.theta.begin() + 16, found.theta.end());
  std::rotate(found.w.begin(), found.w.begin() + 16, found.w.end());
  const auto same = parameter_errors(found, truth);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->theta.value(), 0.0);
  EXPECT_EQ(same->w, 0.0);
  for (double& v : found.w) v *= 1.5;
  EXPECT_NEAR(parameter_errors(found, truth)->w, 0.5, tolerance::dozens_of_roundings);
  EXPECT_FALSE(parameter_errors(make_layer(2, 4), truth));
}

TEST(MhaCanonical, RelativeToAThetaOfZeroThereIsNoError) {
  Layer truth = draw_layer(law_of(2, 4, 2, 3.0), 9);
  std::fill_n(truth.theta.begin(), 16, 0.0);
  Layer found = truth;
  found.theta[3] = 1e-9;
  std::rotate(found.theta.begin(), found.theta.begin() + 16, found.theta.end());
  std::rotate(found.w.begin(), found.w.begin() + 16, found.w.end());
  const auto errors = parameter_errors(found, truth);
  ASSERT_TRUE(errors);
  EXPECT_FALSE(errors->theta);
  EXPECT_EQ(errors->at_zero, 1e-9);
  EXPECT_EQ(errors->w, 0.0) << "the heads are paired all the same";
}

TEST(MhaExamples, RepeatsUpToTheSymmetriesAreComparedTokenByToken) {
  Examples examples = draw_examples({}, draw_layer({}, 3), 50, 3, "mha examples", {});
  const std::size_t before = compare_repeats(examples, 1e-12).count;
  for (std::size_t e = 0; e < 16; ++e) {  // the first with tokens exchanged and sign turned
    examples.x.push_back(static_cast<std::int8_t>(-examples.x[(e + 8) % 16]));
    examples.y.push_back(-examples.y[(e + 8) % 16]);
  }
  ++examples.count;
  const Repeats honest = compare_repeats(examples, 1e-12);
  EXPECT_EQ(honest.count, before + 1);
  EXPECT_EQ(honest.different, 0U);
  EXPECT_LT(honest.difference, 1e-14);
  examples.y.back() += 0.1;
  const Repeats wrong = compare_repeats(examples, 1e-12);
  EXPECT_EQ(wrong.different, 1U);
  EXPECT_EQ(wrong.first, 50U);
}

}  // namespace
}  // namespace onset::mha
