#include "aim/learners/label_test.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aim/limits/label_error.hpp"
#include "numerics/random/stream.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/problem.hpp"

namespace onset::aim {
namespace {

/// A matrix of dimension d and an estimate of it as the limit has it: S = A + sqrt(V) B with
/// independent symmetric Gaussian A and B, of which A is known.
struct Known {
  std::vector<double> truth;
  std::vector<double> estimate;
};

std::vector<double> symmetric(std::size_t dim, double variance, std::uint64_t index) {
  std::vector<double> z(dim * dim);
  numerics::Stream(1, "test matrices", index).normal(z);
  std::vector<double> out(dim * dim);
  const double scale = std::sqrt(0.5 * variance / static_cast<double>(dim));
  for (std::size_t i = 0; i < dim; ++i) {
    for (std::size_t j = 0; j < dim; ++j) {
      out[i * dim + j] = scale * (z[i * dim + j] + z[j * dim + i]);
    }
  }
  return out;
}

Known known_part(std::size_t dim, double norm, double unknown, std::uint64_t index) {
  Known out;
  out.estimate = symmetric(dim, norm - unknown, 2 * index);
  out.truth = symmetric(dim, unknown, 2 * index + 1);
  for (std::size_t i = 0; i < out.truth.size(); ++i) out.truth[i] += out.estimate[i];
  return out;
}

/// Errors on new labels are those of the limit [aim 37]. Eight errors of 16 runs are one false
/// alarm in a million for each of the numbers; a finite dimension changes them by some 2/d.
TEST(AimLabelTest, GivesTheErrorsOfTheLimit) {
  constexpr std::size_t dim = 60;
  constexpr double errors = 8.0;
  constexpr double finite = 2.0 / dim;
  constexpr double unknown = 0.4;
  struct Case {
    const char* channel;
    int tokens;
    double noise;
  };
  for (const Case& c : {Case{"softmax", 2, 0.0}, Case{"softmax", 2, 0.3}, Case{"softmax", 3, 0.0},
                        Case{"hardmax", 2, 0.0}, Case{"hardmax", 3, 0.0}, Case{"linear", 2, 0.1}}) {
    AttentionIndexed model = model_of(c.channel, c.tokens);
    model.noise_variance = c.noise;
    const double norm = 1.0 + model.rho;
    std::vector<double> best;
    std::vector<double> plug_in;
    for (std::uint64_t run = 0; run < 16; ++run) {
      const Known at = known_part(dim, norm, unknown, run);
      const LabelTest test(model, at.truth, dim, 1, run, {});
      best.push_back(test.best(at.estimate, unknown, {}));
      plug_in.push_back(test.plug_in(at.estimate, {}));
    }
    const auto limit = LabelErrors(model, 1).at({norm - unknown, 0.0}, {unknown, 0.0});
    const auto expect = [&](const std::vector<double>& found, const Estimate& expected) {
      const Estimate mean = numerics::mean_over_runs(found);
      EXPECT_NEAR(mean.value, expected.value,
                  errors * std::hypot(mean.error, expected.error) + finite * expected.value)
          << c.channel << " " << c.tokens << " " << c.noise;
      EXPECT_LT(mean.error, 0.02 * expected.value);
    };
    expect(best, limit->bayes);
    expect(plug_in, limit->plug_in);
  }
}

TEST(AimLabelTest, TheTruthIsNeverWrong) {
  for (const char* channel : {"softmax", "hardmax", "linear"}) {
    const AttentionIndexed model = model_of(channel, 2);
    const Problem p = draw(model, 12, 0.1);
    const LabelTest test(model, p.teacher.matrix, 12, 1, 0, {});
    EXPECT_EQ(test.plug_in(p.teacher.matrix, {}), 0.0);
    EXPECT_NEAR(test.best(p.teacher.matrix, 0.0, {}), 0.0, tolerance::squared_roundings);
    EXPECT_GT(test.plug_in(std::vector<double>(144, 0.0), {}), 0.0);
  }
}

/// The mean label of two students that err in opposite directions is better than either.
TEST(AimLabelTest, MeansOfLabelsAreTried) {
  const AttentionIndexed model = model_of("softmax", 2);
  const Problem p = draw(model, 12, 0.1);
  const LabelTest test(model, p.teacher.matrix, 12, 1, 0, {});
  const std::vector<double> off = symmetric(12, 0.1, 9);
  std::vector<std::vector<double>> students(2, p.teacher.matrix);
  for (std::size_t i = 0; i < off.size(); ++i) {
    students[0][i] += off[i];
    students[1][i] -= off[i];
  }
  EXPECT_LT(test.mean_of(students, {}), 0.2 * test.plug_in(students[0], {}));
  EXPECT_EQ(test.mean_of({students[0]}, {}), test.plug_in(students[0], {}));
}

}  // namespace
}  // namespace onset::aim
