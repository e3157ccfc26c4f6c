#include <gtest/gtest.h>

#include <cmath>

#include "mha/learners/polish/separable_fit.hpp"
#include "support/tolerances.hpp"
#include "unit/mha/instances.hpp"

namespace onset::mha {
namespace {

using testing::draw;
using testing::law_of;
using testing::theta_vector;
using testing::use_all;

TEST(MhaSeparableFit, GradientsAgreeWithDifferences) {
  auto drawn = draw(law_of(2, 4, 3, 2.0), 40, 22);
  use_all(drawn);
  std::vector<Vector> thetas{theta_vector(drawn.truth, 0), theta_vector(drawn.truth, 1)};
  thetas[0][3] += 0.5;
  const Context context;
  SeparableFit fit(drawn.sample, nullptr, context);
  fit.move_to(thetas);
  const Vector right = fit.normal_equations().right;
  const double size = labels_of(drawn.sample, 0, drawn.sample.size()).norm();
  const auto half_square = [&](const std::vector<Vector>& at) {
    fit.move_to(at);
    return 0.5 * std::pow(fit.residual() * size, 2.0);
  };
  constexpr double step = 1e-5;
  for (Index u = 0; u < right.size(); u += 5) {
    const auto moved = [&](double by) {
      std::vector<Vector> at = thetas;
      at[static_cast<std::size_t>(u / 16)][u % 16] += by;
      return half_square(at);
    };
    EXPECT_NEAR((moved(step) - moved(-step)) / (2.0 * step), -right[u],
                tolerance::coarse_difference_quotient);
  }
}

TEST(MhaSeparableFit, FindsTheTruthFromNearby) {
  auto drawn = draw(law_of(2, 5, 3, 2.0), 400, 23);
  use_all(drawn);
  std::vector<Vector> thetas{theta_vector(drawn.truth, 0), theta_vector(drawn.truth, 1)};
  thetas[0] *= 1.05;
  const FitOutcome fit = fit_layer(drawn.sample, thetas, nullptr, {}, {});
  EXPECT_LT(fit.residual, 1e-12);
}

}  // namespace
}  // namespace onset::mha
