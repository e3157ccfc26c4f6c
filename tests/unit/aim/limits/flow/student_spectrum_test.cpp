#include "aim/limits/flow/student_spectrum.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "aim/limits/flow/path.hpp"
#include "aim/limits/flow/teacher_law.hpp"
#include "aim/limits/spectrum.hpp"
#include "numerics/linear_algebra/symmetric_eigen.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/error.hpp"
#include "onset/numerics/replicates.hpp"
#include "support/tolerances.hpp"
#include "unit/aim/limits/flow/random_models.hpp"

namespace onset::aim {
namespace {

using Complex = std::complex<double>;

FlowModel first_case() {
  FlowModel model = flow_model(softmax_channel(), SgdLoss::squared, 2);
  model.width_ratio = 0.75;
  model.scale = 0.4;
  return model;
}

TEST(AimStudentSpectrum, ResolventAgreesWithAnotherProgram) {
  // Both parts have nine decimals, and this is a unit of the last and a tenth more for the solver.
  constexpr double ninth_digit = 1.1e-9;
  const FlowSolver solver(first_case(), Precision::fine, 1.5, 1, 1000);
  const auto states = solver.states({0.4, 1.5}, {});
  const auto expect = [&](std::size_t i, Complex z, Complex expected) {
    EXPECT_NEAR(std::abs(solver.dynamics().resolvent(states[i], z) - expected), 0.0, ninth_digit)
        << z;
  };
  expect(0, {1.0, 0.1}, {1.205251395, -.718951076});
  expect(0, {3.0, 0.2}, {.384122820, -.030806574});
  expect(1, {1.0, 0.1}, {.798587734, -.553934359});
}

/// (1/2 pi i) of the integrals of g, z g and z^2 g around the spectrum are 1, t and p.
TEST(AimStudentSpectrum, ContourIntegralsAreTheMoments) {
  for (const FlowModel& model : random_models(8, 6)) {
    const double time = 0.2 / model.labels.tokens;
    const FlowSolver solver(model, Precision::fine, time, 1, 400);
    const auto state = solver.states({time}, {}).at(0);
    const StudentMoments moments = solver.dynamics().moments(state);
    const double radius = 2.0 * solver.dynamics().top(state);
    constexpr int points = 96;  // of the upper half; the lower one is its mirror image
    double mass = 0.0;
    double first = 0.0;
    double second = 0.0;
    for (int k = 0; k < points; ++k) {
      const Complex z =
          std::polar(radius, std::numbers::pi * (k + 0.5) / static_cast<double>(points));
      const Complex g = solver.dynamics().resolvent(state, z);
      mass += (z * g).real() / points;
      first += (z * z * g).real() / points;
      second += (z * z * z * g).real() / points;
    }
    // The rule errs by (spectrum/radius)^(2 points), the moments by rounding in cancelling terms.
    constexpr double rounding = 1e-11;
    EXPECT_NEAR(mass, 1.0, rounding);
    EXPECT_NEAR(first, moments.trace, rounding * radius);
    EXPECT_NEAR(second, moments.scores.p, rounding * radius * radius);
  }
}

/// The student of linear labels is a closed form of its start at every d [aim 72]: drawn starts
/// have the resolvent of the limit. Six errors of 60 draws have odds of 1e-7; the mean is off by
/// some 1/d.
TEST(AimStudentSpectrum, IsThatOfMatricesOfFiniteSize) {
  constexpr Eigen::Index dim = 80;
  constexpr double errors = 6.0;
  constexpr double finite = 2.0 / dim;
  FlowModel model = flow_model(linear_channel(), SgdLoss::squared, 2);
  model.width_ratio = 0.75;
  model.scale = 0.4;
  const double time = 0.03;
  const double c = 6.0;
  const Eigen::Index width = 60;
  const std::vector<double> teacher = teacher_quantiles(0.5, dim);
  const FlowSolver solver(model, Precision::fine, time, 1, 1000);
  const auto state = solver.states({time}, {}).at(0);
  Eigen::VectorXd growth(dim);  // P
  Eigen::VectorXd spent(dim);   // N
  for (Eigen::Index i = 0; i < dim; ++i) {
    const double lambda = teacher[static_cast<std::size_t>(i)];
    growth[i] = std::exp(2.0 * c * time * lambda);
    spent[i] = lambda > 0.0 ? std::expm1(4.0 * c * time * lambda) / lambda : 4.0 * c * time;
  }
  const std::vector<Complex> places{{0.3, 0.1}, {0.8, 0.1}, {1.5, 0.2}};
  std::vector<std::vector<double>> real(places.size());
  std::vector<std::vector<double>> imaginary(places.size());
  for (std::uint64_t draw = 0; draw < 60; ++draw) {
    std::vector<double> z(static_cast<std::size_t>(dim * width));
    numerics::Stream(1, "test starts", draw).normal(z);
    const double deviation = std::sqrt(model.scale / std::sqrt(static_cast<double>(width * dim)));
    const Eigen::MatrixXd start = deviation * Eigen::Map<Eigen::MatrixXd>(z.data(), dim, width);
    const Eigen::MatrixXd inner =
        Eigen::MatrixXd::Identity(width, width) + start.transpose() * spent.asDiagonal() * start;
    const Eigen::MatrixXd grown = growth.asDiagonal() * start;
    const Eigen::MatrixXd student = grown * inner.llt().solve(grown.transpose());
    const Eigen::VectorXd values =
        numerics::symmetric_eigen(0.5 * (student + student.transpose())).values;
    for (std::size_t k = 0; k < places.size(); ++k) {
      Complex mean = 0.0;
      for (const double value : values) mean += 1.0 / (places[k] - value) / Complex(dim);
      real[k].push_back(mean.real());
      imaginary[k].push_back(mean.imag());
    }
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Complex limit = solver.dynamics().resolvent(state, places[k]);
    const auto expect = [&](const std::vector<double>& found, double expected) {
      const Estimate mean = numerics::mean_over_runs(found);
      EXPECT_NEAR(mean.value, expected, errors * mean.error + finite * std::abs(limit));
      EXPECT_LT(errors * mean.error, 0.1 * std::abs(limit));
    };
    expect(real[k], limit.real());
    expect(imaginary[k], limit.imag());
  }
}

TEST(AimStudentSpectrum, SmoothedDensityHasTheMassOfTheWidth) {
  const auto spectra =
      student_spectra(first_case(), {0.4, 1.5}, {.smoothing = 0.02, .points = 200}, {});
  ASSERT_EQ(spectra.size(), 2u);
  for (const StudentSpectrum& s : spectra) {
    EXPECT_NEAR(s.atom, 0.25, tolerance::few_roundings);
    double mass = 0.0;
    for (std::size_t i = 1; i < s.x.size(); ++i) {
      mass += 0.5 * (s.x[i] - s.x[i - 1]) * (s.density[i].value + s.density[i - 1].value);
      EXPECT_LT(s.density[i].error, 1e-4);
    }
    // A Lorentzian loses some of its mass beyond the ends: 2 delta/(pi x), x the distance.
    constexpr double beyond_the_ends = 0.04;
    EXPECT_NEAR(mass, 0.75, beyond_the_ends);
  }
}

/// A direct student is the teacher in a semicircle: the law of aim spectrum.
TEST(AimStudentSpectrum, OfADirectStudentIsThatOfANoisyTeacher) {
  FlowModel model = flow_model(linear_channel(), SgdLoss::squared, 2);
  model.student = Student::direct;
  model.start = StudentStart::zero;
  model.rate = 1.0;
  const FlowSolver solver(model, Precision::fine, 0.3, 1);
  const auto state = solver.states({0.3}, {}).at(0);
  const double learned = 1.0 - state[0];
  const NoisySpectrum exact(0.5, state[2] / (learned * learned));
  constexpr double height = 1e-4;
  for (const double x : {0.4, 0.9, 1.7}) {
    const double found = -solver.dynamics().resolvent(state, {x, height}).imag() / std::numbers::pi;
    EXPECT_NEAR(found, exact.density(x / learned).value / learned, 20.0 * height) << x;
  }
}

TEST(AimStudentSpectrum, OfADirectGaussianStartIsRefused) {
  FlowModel model = flow_model(linear_channel(), SgdLoss::squared, 2);
  model.student = Student::direct;
  EXPECT_THROW((void)student_spectra(model, {0.1}, {}, {}), Refused);
}

}  // namespace
}  // namespace onset::aim
