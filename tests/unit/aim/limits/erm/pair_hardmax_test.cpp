#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "aim/limits/erm/pair_loss.hpp"
#include "aim/limits/erm/training_output.hpp"
#include "aim/model/channels.hpp"
#include "aim/model/channels/hardmax/orthant.hpp"

namespace onset::aim {
namespace {

AttentionIndexed hardmax_model() {
  AttentionIndexed model;
  model.channel = &hardmax_channel();
  model.tokens = 2;
  model.rho = 0.5;
  return model;
}

/// A student of long S, so that the softmax and the label turn within a small share of the normals:
/// plain sums over the plane, as fine as that, at chi = 0, where nothing is minimised.
TEST(PairHardmax, MomentsOfSteepStudentsAreThoseOfFineGrids) {
  constexpr double step = 0.025;
  constexpr double reach = 7.0;
  constexpr double relative = 1e-8;  // of the rule of two hundred nodes a direction
  const Overlaps o{30.0, 6.6, 0.0};
  const double share = o.overlap / o.norm;
  const double rest = std::sqrt(3.0 * (1.5 - share * o.overlap));
  OutputMoments plain;
  for (double x = -reach; x <= reach; x += step) {
    for (double y = -reach; y <= reach; y += step) {
      const double ws = std::sqrt(4.0 * o.norm) * x;
      const double wd = std::sqrt(2.0 * o.norm) * y;
      const Pair w{(ws + wd) / std::numbers::sqrt2, (ws - wd) / std::numbers::sqrt2};
      const double weight =
          step * step * std::exp(-0.5 * (x * x + y * y)) / (2.0 * std::numbers::pi);
      for (const double second : {1.0, -1.0}) {
        const Orthant p = orthant(share * w[0] / rest, second * share * w[1] / rest, second / 3.0);
        if (p.probability == 0.0) continue;
        const double mass = 2.0 * weight * p.probability;
        const RowLoss a = row_loss(TrainingLoss::cross_entropy, w[0], 1.0);
        const RowLoss b = row_loss(TrainingLoss::cross_entropy, w[1], 0.5 + 0.5 * second);
        const Pair kg{-3.0 * a.first - b.first, -a.first - 3.0 * b.first};
        plain.train += mass * (a.value + b.value);
        plain.hats.norm -= mass * (kg[0] * a.first + kg[1] * b.first);
        plain.hats.overlap += mass * (kg[0] * p.rate1 + second * kg[1] * p.rate2) / rest;
        plain.hats.chi += mass * 3.0 * (a.second + b.second);
      }
    }
  }
  const auto output = pair_hardmax_output(hardmax_model());
  const OutputMoments found = output->at(o, output->rules() - 1);
  EXPECT_NEAR(found.train, plain.train, relative * plain.train);
  EXPECT_NEAR(found.hats.norm, plain.hats.norm, relative * plain.hats.norm);
  EXPECT_NEAR(found.hats.overlap, plain.hats.overlap, relative * plain.hats.overlap);
  EXPECT_NEAR(found.hats.chi, plain.hats.chi, relative * plain.hats.chi);
}

/// E 2 log(1 + exp(-|t|)) is 4 ln 2 less a slope for small deviations and pi^2/12 over the density
/// at 0 for large ones.
TEST(PairHardmax, MultiplesOfTheTeacherHaveTheirLimits) {
  const auto output = pair_hardmax_output(hardmax_model());
  constexpr double zeta = 1e6;
  constexpr double of_rules = 1e-8;  // the coarsest errs by exp(-pi^2/(2 step))
  const double pi = std::numbers::pi;
  const double large = 4.0 * pi * pi / 12.0 / (zeta * std::sqrt(2.0 * pi * 4.5));
  const double small = 2.0 * std::numbers::ln2;
  for (std::size_t rule = 0; rule < output->rules(); ++rule) {
    EXPECT_NEAR(output->multiple_loss(zeta, rule), large, of_rules * large);
    EXPECT_NEAR(output->multiple_loss(0.0, rule), small, of_rules);
  }
}

}  // namespace
}  // namespace onset::aim
