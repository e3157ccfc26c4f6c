#include "mha/model/conditions.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <vector>

#include "mha/model/instance.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"

namespace onset::mha {
namespace {

Condition named(const std::vector<Condition>& list, const std::string& name) {
  for (const Condition& condition : list) {
    if (condition.name == name) return condition;
  }
  ADD_FAILURE() << "no condition " << name;
  return {};
}

/// Head i attends by theta_i = scale_i times the identity, and projects by the identity or a
/// reflection.
Layer of_identities(std::vector<double> scales, bool reflect) {
  constexpr int dim = 8;
  Layer layer = make_layer(static_cast<int>(scales.size()), dim);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    for (std::size_t c = 0; c < dim; ++c) {
      layer.theta[i * dim * dim + c * (dim + 1)] = scales[i];
      layer.w[i * dim * dim + c * (dim + 1)] = reflect && i == 1 && c < 2 ? -1.0 : 1.0;
    }
  }
  return layer;
}

TEST(MhaConditions, FactsAboutTheMatricesAreThoseOfGeometry) {
  const auto list = conditions_of(of_identities({1.0, 2.0}, true), 2, Inputs::boolean, 1, {});
  const double root = std::sqrt(8.0);
  EXPECT_NEAR(named(list, "scale, smallest").value.value, root, tolerance::few_roundings * 10);
  EXPECT_NEAR(named(list, "scale, largest").value.value, 2.0 * root, tolerance::few_roundings * 10);
  EXPECT_NEAR(named(list, "effective rank, smallest").value.value, 8.0,
              tolerance::hundreds_of_roundings);
  EXPECT_NEAR(named(list, "distance of heads, relative").value.value, 0.5,
              tolerance::few_roundings);
  EXPECT_NEAR(named(list, "sine between heads, smallest").value.value, 0.0,
              tolerance::dozens_of_roundings);
  // Six entries agree and two do not: the cosine is 4/8.
  EXPECT_NEAR(named(list, "sine between projections, smallest").value.value, std::sqrt(0.75),
              tolerance::dozens_of_roundings);
  EXPECT_EQ(named(list, "affine independence of heads").holds, true) << "one is not the other";
  EXPECT_EQ(named(list, "sum of projections, smallest over largest singular value").value.value,
            0.0);
}

/// At a huge scale a row is saturated unless the two tokens are the same, which happens once in
/// 2^8.
TEST(MhaConditions, SaturationIsThatOfDistinctTokens) {
  const Estimate part =
      named(conditions_of(of_identities({50.0, 60.0}, true), 2, Inputs::boolean, 1, {}),
            "saturated rows")
          .value;
  // Binomial over 2048 examples, false alarms of 1e-6.
  const double binomial = std::sqrt(1.0 / 256.0 / 2048.0);
  EXPECT_NEAR(part.value, 1.0 - 1.0 / 256.0, 4.9 * binomial);
}

/// The smallest singular value of both keys' projections by both heads over the largest, on
/// examples of one's own.
TEST(MhaConditions, IndependenceOfKeysIsThatOfTheirSingularValues) {
  constexpr int dim = 8;
  const Layer layer = of_identities({1.0, 2.0}, true);
  const Estimate found =
      named(conditions_of(layer, 3, Inputs::boolean, 1, {}), "independence of projected keys")
          .value;
  std::mt19937 random(5);
  Eigen::Array<double, dim, 1> reflected = Eigen::Array<double, dim, 1>::Ones();
  reflected.head(2) = -1.0;
  std::vector<double> ratios;
  for (int n = 0; n < 4000; ++n) {
    Eigen::Matrix<double, 3, dim> tokens;
    for (double& x : tokens.reshaped()) x = random() % 2 == 0 ? 1.0 : -1.0;
    Eigen::Matrix<double, 4, dim> keys;
    for (int k = 0; k < 2; ++k) {
      keys.row(k) = tokens.row(k) - tokens.row(2);
      keys.row(2 + k) = keys.row(k).array() * reflected.transpose();
    }
    const auto values = keys.jacobiSvd().singularValues();
    ratios.push_back(values(0) > 0.0 ? values(3) / values(0) : 0.0);
  }
  const Estimate own = numerics::reduce(ratios);
  EXPECT_GT(own.value, 0.05);
  // Means of thousands of examples each, false alarms of 1e-6.
  EXPECT_NEAR(found.value, own.value, 4.9 * std::hypot(found.error, own.error));
}

TEST(MhaConditions, EachKindOfDegenerateLayerBreaksItsOwn) {
  InstanceLaw law;
  law.degeneracy = Degeneracy::cancelling;
  auto list = conditions_of(draw_layer(law, 1), 2, Inputs::boolean, 1, {});
  EXPECT_EQ(named(list, "sum of projections over labels").holds, false);
  law.degeneracy = Degeneracy::proportional;
  list = conditions_of(draw_layer(law, 1), 2, Inputs::boolean, 1, {});
  EXPECT_EQ(named(list, "sum of projections over labels").holds, true);
  EXPECT_EQ(named(list, "sine between projections, smallest").holds, false);
  EXPECT_EQ(named(list, "independence of projected keys").holds, false);
  law.degeneracy = Degeneracy::none;
  law.heads = 5;
  law.tokens = 3;
  list = conditions_of(draw_layer(law, 1), 3, Inputs::boolean, 1, {});
  EXPECT_EQ(named(list, "keys of all heads").holds, false);
}

}  // namespace
}  // namespace onset::mha
