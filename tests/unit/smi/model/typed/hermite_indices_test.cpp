#include "smi/model/typed/hermite_indices.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "smi/model/typed/level_lines.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

TEST(HermiteIndices, ListsEveryMultiIndexOfADegreeOnce) {
  const HermiteIndices indices(3, 4);
  // Binomial coefficients (degree + 2 over 2).
  for (int degree = 0; degree <= 4; ++degree) {
    EXPECT_EQ(indices.first(degree + 1) - indices.first(degree),
              static_cast<std::size_t>((degree + 1) * (degree + 2) / 2));
  }
}

TEST(HermiteIndices, ProductsAreThoseOfOneVariable) {
  const HermiteIndices indices(2, 3);
  const double x[] = {0.7, -1.3};
  std::vector<double> values(indices.size());
  indices.values(x, values);
  const auto h2 = [](double t) { return (t * t - 1.0) / std::sqrt(2.0); };
  EXPECT_NEAR(values[indices.at({2, 1})], h2(x[0]) * x[1], tolerance::few_roundings);
  EXPECT_NEAR(values[indices.at({0, 3})], (std::pow(x[1], 3) - 3.0 * x[1]) / std::sqrt(6.0),
              tolerance::dozens_of_roundings);
}

// He tensors are covariant: rotated moments of one point are those of the rotated point.
TEST(HermiteIndices, RotateAsTensors) {
  const HermiteIndices indices(2, 5);
  const double c = std::cos(0.4), s = std::sin(0.4);
  const double rotation[] = {c, -s, s, c};
  const double u[] = {0.9, -0.4};
  const double x[] = {c * u[0] - s * u[1], s * u[0] + c * u[1]};
  std::vector<double> moments(indices.size()), expected(indices.size());
  indices.values(u, moments);
  indices.rotate(rotation, moments);
  indices.values(x, expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(moments[i], expected[i], tolerance::hundreds_of_roundings);
  }
}

// Degrees 1 and 2 are the means and second moments that posteriors use.
TEST(HermiteIndices, MomentsOfLabelsAgreeWithMeansAndSecondMoments) {
  for (const char* text : {"z1^2+z1*z2", "sign(z1+z2)"}) {
    const TypedLink link(text, 0.0);
    NormalForm form;
    form.origin = FieldVector::Zero(2);
    form.matrix = FieldMatrix::Identity(2, 2);
    const LevelLines lines(link, form, {});
    const HermiteIndices indices(2, 2);
    const TypedLabel label = link.is_discrete() ? TypedLabel(1.0, true) : TypedLabel(0.8, false);
    const LevelMoments m = lines.moments(label);
    const LevelHermite h = lines.hermite(label, indices);
    EXPECT_NEAR(h.z(), m.z, tolerance::hundreds_of_roundings);
    EXPECT_NEAR(h.moments[indices.at({1, 0})], m.mean(0), tolerance::thousands_of_roundings);
    EXPECT_NEAR(h.moments[indices.at({1, 1})], m.second(0, 1), tolerance::thousands_of_roundings);
    EXPECT_NEAR(std::sqrt(2.0) * h.moments[indices.at({0, 2})], m.second(1, 1) - m.z,
                tolerance::thousands_of_roundings);
  }
}

}  // namespace
}  // namespace onset::smi
