#include "smi/learners/spectral_estimator.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "smi/limits/spectral.hpp"
#include "smi/model/typed/typed_model.hpp"
#include "support/tolerances.hpp"

namespace onset::smi {
namespace {

struct Drawn {
  Dataset data;
  std::vector<Eigen::MatrixXd> excess;
};

Drawn draw(const std::string& text, std::size_t dim, std::size_t samples, std::uint64_t run) {
  const auto link = std::make_shared<const TypedLink>(text, 0.0);
  Drawn out;
  out.data = draw_dataset(*typed_model(link, link->tokens()), dim, samples, 1, run, {});
  out.excess = sample_excess(*link, out.data.labels, out.data.tokens, 1, {}).block.front();
  return out;
}

// The dense matrix of a small problem, and its eigenvalues by another solver.
TEST(SpectralEstimator, FindsTheEigenvaluesOfTheDenseMatrix) {
  for (const char* text : {"z1^2", "z1*z2"}) {
    const Drawn drawn = draw(text, 20, 60, 0);
    const auto dim = static_cast<Eigen::Index>(drawn.data.dimension);
    const Eigen::Index directions = drawn.excess.front().rows();
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(directions * dim, directions * dim);
    for (std::size_t i = 0; i < drawn.data.samples; ++i) {
      const Eigen::Map<const Eigen::VectorXd> x(
          drawn.data.inputs.data() + static_cast<std::ptrdiff_t>(i) * dim, dim);
      const Eigen::MatrixXd t = spectral_weight(drawn.excess[i], 1.05);
      for (Eigen::Index p = 0; p < directions; ++p) {
        for (Eigen::Index q = 0; q < directions; ++q) {
          dense.block(p * dim, q * dim, dim, dim) +=
              t(p, q) * x * x.transpose() / static_cast<double>(dim);
        }
      }
    }
    const Eigen::VectorXd all = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense).eigenvalues();
    SpectralEstimatorOptions options;
    options.gamma = 1.05;
    options.wanted = 2;
    const SpectralEstimate found = spectral_estimate(drawn.data, drawn.excess, options, {});
    ASSERT_TRUE(found.converged);
    constexpr double lanczos = 1e-6;  // its tolerance
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(found.eigenvalue[k], all(all.size() - 1 - static_cast<Eigen::Index>(k)),
                  lanczos * all.cwiseAbs().maxCoeff());
    }
  }
}

// An eigenvalue gamma of L is an eigenvalue 1 of H_gamma [links 34].
TEST(SpectralEstimator, LinearisedMessagePassingBelongsToTheFamily) {
  // So many samples that the eigenvalue, 8 in the limit, is far outside the disk of complex ones.
  const Drawn drawn = draw("z1^2", 200, 800, 0);
  SpectralEstimatorOptions options;
  options.is_lamp = true;
  const SpectralEstimate lamp = spectral_estimate(drawn.data, drawn.excess, options, {});
  ASSERT_TRUE(lamp.converged);
  options.is_lamp = false;
  options.gamma = lamp.eigenvalue.front();
  const SpectralEstimate own = spectral_estimate(drawn.data, drawn.excess, options, {});
  ASSERT_TRUE(own.converged);
  constexpr double arnoldi = 1e-5;  // ten times the tolerance, for both solvers
  bool has_one = false;
  for (const double eigenvalue : own.eigenvalue) {
    has_one = has_one || std::abs(eigenvalue - 1.0) < arnoldi;
  }
  EXPECT_TRUE(has_one);
}

// Mean squared overlap of independent runs against the limit: 16 runs at 2 alpha_c, where one run
// has a standard deviation of 1 to 2 over sqrt(D). Six errors of their own mean, with Student's law
// of 15 degrees of freedom: a false alarm has probability 2.4e-5, and the seed is fixed.
TEST(SpectralEstimator, AgreesWithTheLimit) {
  constexpr std::size_t dim = 250;
  constexpr int runs = 16;
  std::vector<double> overlaps;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Drawn drawn = draw("z1^2", dim, dim, run);
    const SpectralEstimate found = spectral_estimate(drawn.data, drawn.excess, {}, {});
    overlaps.push_back(teacher_overlap(found, drawn.data, {0}));
  }
  double mean = 0.0, square = 0.0;
  for (const double x : overlaps) mean += x / runs;
  for (const double x : overlaps) square += (x - mean) * (x - mean) / (runs - 1);
  constexpr double six_errors = 6.0;
  EXPECT_NEAR(mean, 0.230697, six_errors * std::sqrt(square / runs));
}

TEST(SpectralEstimator, BitsDoNotDependOnThreads) {
  const Drawn drawn = draw("z1^2", 40, 200, 2);
  Context one, three;
  one.threads = 1;
  three.threads = 3;
  const SpectralEstimate a = spectral_estimate(drawn.data, drawn.excess, {}, one);
  const SpectralEstimate b = spectral_estimate(drawn.data, drawn.excess, {}, three);
  EXPECT_EQ(a.eigenvalue, b.eigenvalue);
  EXPECT_EQ(a.vectors, b.vectors);
}

}  // namespace
}  // namespace onset::smi
