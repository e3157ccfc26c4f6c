#include "smi/model/typed/typed_posterior.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace onset::smi {
namespace {

// The second output cuts a segment of length sqrt(2) s out of the line z1 + z2 = s, which plain
// lines seldom meet. It has the mass s/(2 pi) of a plane that is flat there, uniformly: E z1 = s/2,
// E z1^2 = s^2/3.
TEST(TypedPosterior, AShortSegmentBetweenSwitchesIsFound) {
  const TypedLink link("z1+z2, sign(z1*z2)", 0.0);
  const NormalForm plain{FieldVector::Zero(2), FieldMatrix::Identity(2, 2)};
  TypedNodes nodes;
  for (const double s : {0.1, 0.03, 0.01}) {
    for (nodes.sample = 0; nodes.sample < 20; ++nodes.sample) {
      TypedLabel label;
      label.value = {s, 1.0, 0.0};
      const TypedMoments m = typed_posterior(link, plain, label, covering_radius(2), nodes);
      ASSERT_TRUE(m.found) << s << " " << nodes.sample;
      for (const TypedMoments::Half& half : m.half) {
        // Eight roots and more on the segment, at places of their own: the mean of a uniform law by
        // so many is good to a seventh of its width, and its mass to a third.
        constexpr double of_eight_roots = 1.0 / 7.0;
        constexpr double of_their_mass = 1.0 / 3.0;
        EXPECT_NEAR(half.mean(0) / s, 0.5, of_eight_roots);
        EXPECT_NEAR(half.second(0, 0) / (s * s), 1.0 / 3.0, of_eight_roots);
        EXPECT_NEAR(std::exp(half.log_z) * 2.0 * std::numbers::pi / s, 1.0, of_their_mass);
      }
    }
  }
}

}  // namespace
}  // namespace onset::smi
