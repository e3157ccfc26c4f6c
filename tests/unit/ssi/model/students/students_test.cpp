#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "onset/core/error.hpp"
#include "onset/ssi/model/student.hpp"
#include "support/complaint.hpp"
#include "support/tolerances.hpp"

namespace onset::ssi {
namespace {

double weighted(const Link& link, const std::vector<double>& z, const std::vector<double>& weight) {
  std::vector<double> values(link.outputs());
  link.values(1, z.data(), values.data());
  double sum = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) sum += weight[k] * values[k];
  return sum;
}

/// The pullback of a link at one point against central differences.
void expect_derivatives(const Link& link, const std::string& what) {
  constexpr double step = 1e-5;
  std::vector<double> z(link.tokens());
  std::vector<double> weight(link.outputs());
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = std::sin(1.0 + 2.0 * static_cast<double>(i));
  for (std::size_t k = 0; k < weight.size(); ++k) weight[k] = std::cos(static_cast<double>(k));
  std::vector<double> values(link.outputs());
  std::vector<double> delta(link.tokens());
  link.values(1, z.data(), values.data());
  link.pullback(1, z.data(), values.data(), weight.data(), delta.data());
  for (std::size_t i = 0; i < z.size(); ++i) {
    auto up = z;
    auto down = z;
    up[i] += step;
    down[i] -= step;
    const double slope = (weighted(link, up, weight) - weighted(link, down, weight)) / (2.0 * step);
    // Differences err by step^2 times a third derivative of order 1, and by rounding over step.
    EXPECT_NEAR(delta[i], slope, tolerance::difference_quotient) << what << ", token " << i + 1;
  }
}

TEST(SsiStudents, EveryNamedStudentHasItsDerivatives) {
  for (const StudentKind& kind : student_kinds()) {
    for (std::size_t tokens = 1; tokens <= 4; ++tokens) {
      const Student student = make_student(kind.name, {.tokens = tokens});
      ASSERT_TRUE(student.link) << kind.name;
      EXPECT_EQ(student.link->tokens(), tokens) << kind.name;
      EXPECT_GT(student.link->value_ns(), 0.0) << kind.name;
      expect_derivatives(*student.link, kind.name);
    }
  }
}

TEST(SsiStudents, AnActivationIsTheLinkItself) {
  for (const StudentKind& kind : student_kinds()) {
    const Student student = make_student(kind.name, {.tokens = 3});
    if (!student.activation) continue;
    const std::vector<double> z{0.3, -1.2, 0.7};
    const double u = (z[0] + z[1] + z[2]) / std::sqrt(3.0);
    double expected = 0.0;
    student.activation->values(1, &u, &expected);
    EXPECT_EQ(weighted(*student.link, z, {1.0}), expected) << kind.name;
  }
}

TEST(SsiStudents, OnlyTheUntiedOneHasWeightsForEachToken) {
  EXPECT_TRUE(make_student("untied", {}).vector_per_token);
  EXPECT_FALSE(make_student("untied", {}).tied_twin().vector_per_token);
  EXPECT_FALSE(make_student("tied", {}).vector_per_token);
  EXPECT_FALSE(make_student("attention", {}).vector_per_token);
}

TEST(SsiStudents, TheReductionFollowsTheTarget) {
  EXPECT_EQ(make_student("attention", {.outputs = 1}).reduction, Reduction::trace);
  EXPECT_EQ(make_student("attention", {.outputs = 4}).reduction, Reduction::none);
  EXPECT_FALSE(make_student("z1", {}).reduction);
}

TEST(SsiStudents, SayWhichOptionsAreNotTheirs) {
  const auto says = [](const std::string& text, const StudentOptions& options,
                       const std::string& words) {
    const std::string message = testing::complaint([&] { (void)make_student(text, options); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  says("tied", {.reduction = Reduction::trace},
       "reduction: has a meaning only with `student = attention`");
  says("z1", {.activation = "relu"},
       "activation: has a meaning only with `student = tied or untied`");
  says("attention", {.left = {1.0, 0.0}}, "left: has a meaning only for a projection");
  says("tied", {.activation = "rel"}, "activation: ");
  says("atention", {}, "no student 'atention'; allowed: attention, tied, untied");
}

}  // namespace
}  // namespace onset::ssi
