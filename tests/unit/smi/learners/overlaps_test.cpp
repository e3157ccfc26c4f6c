#include "smi/learners/overlaps.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/random/stream.hpp"
#include "smi/learners/test_error.hpp"
#include "smi/limits/prediction_error.hpp"
#include "smi/model/attention_model.hpp"
#include "smi/model/links.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

/// The root of a rounding error, by which singular values near one another are known.
constexpr double root_of_rounding = 1e-7;

std::vector<double> normals(std::size_t count, std::uint64_t index) {
  std::vector<double> out(count);
  numerics::Stream(9, "overlaps test", index).normal(out);
  return out;
}

TEST(SmiOverlaps, DoNotSeeSignsAndRotationsWithinABlock) {
  constexpr std::size_t dim = 40;
  const std::vector<double> teacher = normals(3 * dim, 1);
  std::vector<double> student(3 * dim);
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (std::size_t d = 0; d < dim; ++d) {
    student[d] = -0.5 * teacher[d];
    student[dim + d] = c * teacher[dim + d] + s * teacher[2 * dim + d];
    student[2 * dim + d] = s * teacher[dim + d] - c * teacher[2 * dim + d];
  }
  const auto blocks = alignments({1, {1, 2}}, overlaps(student, teacher, dim));
  EXPECT_NEAR(blocks[0].cosine, 1.0, tolerance::thousands_of_roundings);
  EXPECT_NEAR(blocks[0].norm, 0.5 * blocks[0].overlap, tolerance::thousands_of_roundings);
  EXPECT_NEAR(blocks[1].cosine, 1.0, root_of_rounding);
  EXPECT_NEAR(blocks[1].norm, blocks[1].overlap, root_of_rounding);
}

TEST(SmiOverlaps, OfAnUnevenBlockAreMatricesInTheBasisOfTheTeacher) {
  // Orthogonal teacher rows of squared norm D; the student is a turned diag(0.9, 0.2) of them.
  constexpr std::size_t dim = 40;
  std::vector<double> teacher(2 * dim, 0.0), student(2 * dim);
  for (std::size_t d = 0; d < dim; ++d) teacher[(d % 2) * dim + d] = std::sqrt(2.0);
  const double c = std::cos(1.1), s = std::sin(1.1);
  for (std::size_t d = 0; d < dim; ++d) {
    const double first = 0.9 * teacher[d], second = 0.2 * teacher[dim + d];
    student[d] = c * first - s * second;
    student[dim + d] = s * first + c * second;
  }
  const auto block = alignments({1, {2}}, overlaps(student, teacher, dim)).front();
  const double overlap[] = {0.9, 0.0, 0.2}, norm[] = {0.81, 0.0, 0.04};
  ASSERT_EQ(block.overlap_matrix.size(), 3u);
  ASSERT_EQ(block.norm_matrix.size(), 3u);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_NEAR(block.overlap_matrix[e], overlap[e], tolerance::thousands_of_roundings);
    EXPECT_NEAR(block.norm_matrix[e], norm[e], tolerance::thousands_of_roundings);
  }
  // Without a teacher the norms are turned to their own axes; of no weights they are 0.
  const auto alone = alignments({1, {2}}, overlaps(student, {}, dim)).front();
  EXPECT_TRUE(alone.overlap_matrix.empty());
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_NEAR(alone.norm_matrix[e], norm[e], tolerance::thousands_of_roundings);
  }
  const std::vector<double> nothing(2 * dim, 0.0);
  const auto empty = alignments({1, {2}}, overlaps(nothing, teacher, dim)).front();
  for (const double x : empty.overlap_matrix) EXPECT_EQ(x, 0.0);
}

TEST(SmiTestError, OfALinearLinkIsTheDistanceOfTheWeights) {
  // E (z* - omega)^2 = |w* - what|^2 / D, and averaging z over N(omega, V) changes nothing.
  const Overlaps o{1, {0.5}, {0.4}, {1.1}};
  const double v[] = {0.5};
  constexpr std::size_t points = 100'000;
  const TestErrors errors = test_errors(*link_model("linear"), o, v, points, 1, 0);
  const double truth = 1.1 - 2.0 * 0.4 + 0.5;
  // Five standard errors, 6e-7 each: squares of a normal scatter by sqrt(2), products of two more.
  EXPECT_NEAR(errors.plugin, truth, 5.0 * truth * std::sqrt(2.0 / points));
  EXPECT_NEAR(errors.bayes, truth, 5.0 * std::sqrt(3.0 * (truth + 0.5) * (truth + 0.5) / points));
}

TEST(SmiTestError, OnTheNishimoriLineIsThatOfStateEvolution) {
  const auto model = attention_model({});
  const double q1 = 0.6, q2 = 0.9;
  const Overlaps o{2, {q1, 0, 0, q2}, {q1, 0, 0, q2}, {1, 0, 0, 1}};
  const double v[] = {1.0 - q1, 0.0, 0.0, 1.0 - q2};
  const TestErrors errors = test_errors(*model, o, v, 40'000, 1, 0);
  const PredictionErrors limit = prediction_errors(
      *model, {numerics::Replicates(16, v[0]), numerics::Replicates(16, v[3])}, 4096, 1, {});
  // The error of a sample is below 4 and its mean below 0.2, so that its deviation is below 0.9.
  const double allowed = 5.0 * 0.9 / std::sqrt(40'000.0);
  EXPECT_NEAR(errors.plugin, numerics::mean(limit.plugin), allowed);
  EXPECT_NEAR(errors.bayes, numerics::mean(limit.bayes), allowed);
}

TEST(SmiTestError, VanishesAtTheTeacherItself) {
  const Overlaps o{2, {1.2, 0.1, 0.1, 0.9}, {1.2, 0.1, 0.1, 0.9}, {1.2, 0.1, 0.1, 0.9}};
  const double v[] = {1e-12, 0.0, 0.0, 1e-12};
  EXPECT_LT(test_errors(*attention_model({}), o, v, 1000, 1, 0).plugin, 1e-20);
}

// Weights that a symmetry exchanged are those of the teacher as far as data can tell.
TEST(Overlaps, TheNearestImageUndoesAnExchange) {
  const Overlaps exchanged{2, {2.0, 0.5, 0.5, 1.0}, {0.1, 0.9, -0.7, 0.2}, {1.0, 0.0, 0.0, 1.0}};
  const Overlaps image = nearest_image(exchanged, {{1, 0, 0, 1}, {0, -1, 1, 0}});
  EXPECT_EQ(image.cross, (std::vector<double>{0.7, -0.2, 0.1, 0.9}));
  EXPECT_EQ(image.student, (std::vector<double>{1.0, -0.5, -0.5, 2.0}));
  EXPECT_EQ(nearest_image(exchanged, {}).cross, exchanged.cross);
}

}  // namespace
}  // namespace onset::smi
