#include "smi/limits/typed/label_law.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace onset::smi {
namespace {

/// Standard errors (16 sets of lines) beyond which an agreement fails: false alarms are rarer than
/// 1e-6.
constexpr double many_errors = 8.0;

const double of_normal = -0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e);

void expect_log_density(const std::string& text, double exact, double largest_error) {
  const auto found = label_log_density(TypedLink(text, 0.0), 1, {});
  ASSERT_TRUE(found.has_value()) << text;
  EXPECT_NEAR(found->value, exact, many_errors * found->error) << text;
  EXPECT_LT(found->error, largest_error) << text;
}

// The rule's own error is about 1e-9; where the law ends in a pole it is halved towards it.
TEST(LabelLaw, OfOneFieldIsExact) {
  constexpr double of_rule = 1e-8;
  constexpr double at_poles = 3e-5;
  expect_log_density("z1", of_normal, of_rule);
  expect_log_density("3*z1", of_normal - std::log(3.0), of_rule);
  // log|z| has the mean -(gamma + log 2) / 2.
  expect_log_density("z1^2", of_normal + 0.5 * (std::numbers::egamma + std::numbers::ln2), of_rule);
  const double inside = std::erf(std::sqrt(0.5));
  expect_log_density("sign(z1^2-1)",
                     inside * std::log(inside) + (1.0 - inside) * std::log1p(-inside), of_rule);
  // y = cos z, by quadrature over all roots of a label.
  expect_log_density("cos(z1)", 0.107681315, at_poles);
}

TEST(LabelLaw, OfSeveralFieldsHasItsScatterInTheError) {
  constexpr double of_lines = 2e-4;
  expect_log_density("sign(z1)*z2", of_normal, of_lines);
  // The density is 2 phi(y) Phi(y); by quadrature.
  expect_log_density("max(z1,z2)", -1.2257913526, of_lines);
}

TEST(LabelLaw, OfLabelsThatAreDrawnIsNotKnown) {
  EXPECT_FALSE(label_log_density(TypedLink("z1*z2, z1^2-z2^2", 0.0), 1, {}).has_value());
}

// A label y = z1 + e1 of variance 2 has the variance V + 1 given omega: it tells log(2/(V + 1))/2.
// Of z1 + z2 with different overlaps it tells log(2/(V1 + V2))/2.
TEST(LabelLaw, ASumTellsTheLogarithmOfVariances) {
  TypedChannelOptions options;
  options.replicates = 16;
  KnownDirections one;
  one.known = Eigen::MatrixXd::Identity(1, 1);
  one.open = Eigen::MatrixXd(1, 0);
  one.overlap = Eigen::MatrixXd::Constant(1, 1, 0.6);
  const Estimate noisy =
      numerics::reduce(label_information(TypedLink("z1+e1", 0.0), one, options, {}));
  EXPECT_NEAR(noisy.value, 0.5 * std::log(2.0 / 1.4), many_errors * noisy.error);
  // Each logarithm scatters by about a half, over 4096 samples 8e-3 if they were independent.
  constexpr double less_than_independent = 3e-3;
  EXPECT_LT(noisy.error, less_than_independent);
  KnownDirections two;
  two.known = Eigen::MatrixXd::Identity(2, 2);
  two.open = Eigen::MatrixXd(2, 0);
  two.overlap = Eigen::Vector2d(0.3, 0.8).asDiagonal();
  const Estimate sum =
      numerics::reduce(label_information(TypedLink("z1+z2", 0.0), two, options, {}));
  EXPECT_NEAR(sum.value, 0.5 * std::log(2.0 / 0.9), many_errors * sum.error);
  EXPECT_LT(sum.error, less_than_independent);
}

// Far out tanh is 1 to rounding: those labels are missing, and the error says so. The density of
// tanh(3 z)^2 = t^2 is phi(z) / (3 t (1 - t^2)) in z > 0; by quadrature.
TEST(LabelLaw, SaturatedLabelsAreInTheError) {
  const auto found = label_log_density(TypedLink("tanh(3*z1)^2", 0.0), 1, {});
  double exact = 0.0;
  constexpr double step = 1e-5;  // log t at 0 leaves a quarter of it
  for (double z = 0.5 * step; z < 9.0; z += step) {
    const double weight = 2.0 * step * std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
    // log(1 - t^2) = -2 log cosh(3 z).
    const double log_cosh = 3.0 * z + std::log1p(std::exp(-6.0 * z)) - std::numbers::ln2;
    exact += weight * (-0.5 * z * z - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(3.0) -
                       std::log(std::tanh(3.0 * z)) + 2.0 * log_cosh);
  }
  EXPECT_LT(std::abs(found->value - exact), found->error);
  EXPECT_GT(found->error, 1e-6);
}

}  // namespace
}  // namespace onset::smi
