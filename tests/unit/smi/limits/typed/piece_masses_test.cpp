#include "smi/limits/typed/piece_masses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// The mass where all switches are positive.
Estimate positive_mass(const char* link) {
  const TypedLink typed(link, 0.0);
  const PieceKey all = (PieceKey{1} << typed.switches()) - 1;
  return numerics::reduce(piece_masses(typed, 1, {}).at(all).mass);
}

double above(double x) {
  return 0.5 * std::erfc(x / std::numbers::sqrt2);
}

TEST(PieceMasses, OfOneFieldAreExact) {
  EXPECT_NEAR(positive_mass("relu(z1-0.3)").value, above(0.3), tolerance::dozens_of_roundings);
  EXPECT_LT(positive_mass("relu(z1-0.3)").error, tolerance::few_roundings);
  // Bumps narrower than the usual step of a scan: sin > 0.9 on 0.451 of a turn of 0.0157.
  double bumps = 0.0;
  const double rise = std::asin(0.9);
  for (int turn = -600; turn <= 600; ++turn) {
    const double start = 2.0 * std::numbers::pi * turn;
    bumps += above((start + rise) / 400.0) - above((start + std::numbers::pi - rise) / 400.0);
  }
  EXPECT_NEAR(positive_mass("relu(sin(400*z1)-0.9)").value, bumps,
              tolerance::thousands_of_roundings);
}

// Panels are halved until nothing changes by more than 1e-11; corners of pieces make hundreds.
TEST(PieceMasses, OfTwoFieldsAreThoseOfAnAdaptiveRule) {
  constexpr double all_panels = 1e-9;
  EXPECT_NEAR(positive_mass("relu(z1-1)+relu(z2)").value, 0.5 * above(1.0), all_panels);
  EXPECT_NEAR(positive_mass("relu(z1)+relu(z1+z2)").value, 0.375, all_panels);
  EXPECT_NEAR(positive_mass("sign(z1^2+z2^2-2)*z1").value, std::exp(-1.0), all_panels);
}

TEST(PieceMasses, OfMoreFieldsAndOscillationsHaveErrorsThatCover) {
  const double outside =
      std::erfc(std::sqrt(1.5)) + std::sqrt(6.0 / std::numbers::pi) * std::exp(-1.5);
  constexpr double many_errors = 6.0;  // eight replicates: 1 in 1000
  for (const auto& [link, mass] :
       {std::pair{"sign(z1^2+z2^2+z3^2-3)*z1", outside},
        std::pair{"relu(z1-0.3)*z2*z3", above(0.3)}, std::pair{"relu(sin(20*z1*z2))", 0.5}}) {
    const Estimate found = positive_mass(link);
    EXPECT_NEAR(found.value, mass, many_errors * found.error) << link;
    EXPECT_LT(found.error, 3e-4) << link;
    EXPECT_GT(found.error, 0.0) << link;
  }
}

}  // namespace
}  // namespace onset::smi
