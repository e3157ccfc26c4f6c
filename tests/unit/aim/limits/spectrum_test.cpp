#include "aim/limits/spectrum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "numerics/linear_algebra/dense.hpp"
#include "numerics/random/stream.hpp"
#include "onset/core/context.hpp"
#include "onset/core/error.hpp"
#include "support/tolerances.hpp"

namespace onset::aim {
namespace {

/// Rounding of a thousand nodes or so, near edges where the density is the root of a difference.
constexpr double mass_of_the_rule = 2e-12;
/// Twice the difference of two rules that are both as good as rounding, or of one half as fine.
constexpr double error_of_the_rule = 1e-8;
/// The iteration runs 1e-7 below the real axis, which smears the density by some multiples of
/// that.
constexpr double off_the_axis = 2e-6;
/// At a noise of 1e8 the next order is its inverse, times a factor of order one.
constexpr double inverse_of_the_noise = 2e-8;
/// 1 - F ~ delta^(2/3) has a next order of relative size delta^(1/3), 1e-3.
constexpr double slow_approach = 2e-3;
/// At a width of 1e6 the prior is Gaussian up to a few of its inverses.
constexpr double inverse_of_the_width = 1e-5;
/// At an edge the denoiser goes like the root of the distance, and that of 1e-9 is 3e-5; three of
/// these.
constexpr double root_at_an_edge = 1e-4;
/// Off an edge by 0.1 the noise of 1e-6 shifts by its size over that distance.
constexpr double inverse_of_the_distance = 1e-5;

const std::vector<double> ratios{0.01, 0.1, 0.5, 0.9, 0.999, 1.0, 1.001, 2.0, 10.0};
const std::vector<double> noises{1e-12, 1e-6, 1e-3, 0.03, 0.3, 1.0, 3.0, 30.0, 1e4};

/// Im g of the equation z = 1/g + sqrt(rho)/(1 - g/sqrt(rho)) + delta g just below the real axis,
/// by damped iteration in the complex plane: slow, and nothing in common with the library's way.
double density_by_iteration(double rho, double delta, double x) {
  using Complex = std::complex<double>;
  const double root = std::sqrt(rho);
  const Complex z(x, -1e-7);
  Complex g(0.0, 1.0 / std::sqrt(1.0 + delta));
  for (int i = 0; i < 200000; ++i) {
    const Complex next = 1.0 / (z - root / (1.0 - g / root) - delta * g);
    if (std::abs(next - g) < 1e-15) break;
    g = 0.5 * (g + next);
  }
  return g.imag() / std::numbers::pi;
}

TEST(AimSpectrum, HasMassOneAndTheMomentsOfSPlusNoise) {
  for (const double rho : ratios) {
    for (const double delta : noises) {
      const NoisySpectrum s(rho, delta);
      const double second = 1.0 + rho + delta;
      const Estimate mass = s.mean([](double, double) { return 1.0; });
      EXPECT_NEAR(mass.value, 1.0, mass_of_the_rule) << rho << " " << delta;
      EXPECT_GT(mass.error, 0.0);
      EXPECT_LT(mass.error, error_of_the_rule) << rho << " " << delta;
      EXPECT_NEAR(s.mean([](double x, double) { return x; }).value, std::sqrt(rho),
                  1e-13 * std::sqrt(second));
      EXPECT_NEAR(s.mean([](double x, double) { return x * x; }).value, second, 1e-12 * second);
      // The estimate is unbiased: its mean is that of S.
      EXPECT_NEAR(s.mean([](double, double xi) { return xi; }).value, std::sqrt(rho),
                  1e-12 * std::sqrt(rho));
    }
  }
}

TEST(AimSpectrum, AgreesWithAnIterationOfItsEquation) {
  for (const double rho : {0.1, 0.5, 1.0, 3.0}) {
    for (const double delta : {0.05, 0.5, 5.0}) {
      const NoisySpectrum s(rho, delta);
      for (const Band& band : s.bands()) {
        for (const double share : {0.1, 0.5, 0.8}) {
          const double x = band.low + share * (band.high - band.low);
          EXPECT_NEAR(s.density(x).value, density_by_iteration(rho, delta, x), off_the_axis)
              << rho << " " << delta << " " << x;
        }
      }
    }
  }
}

TEST(AimSpectrum, VanishesAtItsEdgesAndOutside) {
  for (const double rho : ratios) {
    for (const double delta : {1e-6, 0.01, 1.0, 100.0}) {
      const NoisySpectrum s(rho, delta);
      const double middle = s.density(0.5 * (s.bands().back().low + s.bands().back().high)).value;
      for (const Band& band : s.bands()) {
        EXPECT_LT(band.low, band.high);
        const double width = band.high - band.low;
        EXPECT_LE(s.density(band.low).value, 1e-5 * middle + s.density(band.low).error);
        EXPECT_EQ(s.density(band.low - 1e-3 * width).value, 0.0);
        EXPECT_GT(s.density(band.low + 1e-3 * width).value, 0.0);
      }
    }
  }
}

TEST(AimSpectrum, SplitsInTwoBandsExactlyAtTheBoundary) {
  for (const double rho : {0.01, 0.3, 0.9}) {
    const double boundary = two_band_delta(rho);
    EXPECT_EQ(NoisySpectrum(rho, boundary * (1.0 - 1e-9)).bands().size(), 2u);
    EXPECT_EQ(NoisySpectrum(rho, boundary * (1.0 + 1e-9)).bands().size(), 1u);
    const NoisySpectrum split(rho, 1e-3 * boundary);
    const double gap = split.bands()[1].low;
    const auto upper = split.mean([gap](double x, double) { return x >= gap ? 1.0 : 0.0; });
    EXPECT_NEAR(upper.value, rho,
                tolerance::magnified_roundings);  // the eigenvalues of W W^T, and only they
  }
  EXPECT_EQ(two_band_delta(1.0), 0.0);
  EXPECT_EQ(NoisySpectrum(1.0, 1e-9).bands().size(), 1u);
}

TEST(AimSpectrum, ShrinkageHasItsLimits) {
  for (const double rho : {0.01, 0.2, 0.5, 0.9, 1.5, 10.0}) {
    EXPECT_NEAR(NoisySpectrum(rho, 1e-14).shrinkage().value, shrinkage_without_noise(rho),
                tolerance::thousands_of_roundings);
    EXPECT_NEAR(NoisySpectrum(rho, 1e8).mmse().value, 1.0, inverse_of_the_noise);
  }
  // rho = 1: the approach is slow, 1 - F ~ delta^(2/3).
  const double first =
      (1.0 - NoisySpectrum(1.0, 1e-9).shrinkage().value) / std::pow(1e-9, 2.0 / 3.0);
  const double second =
      (1.0 - NoisySpectrum(1.0, 1e-12).shrinkage().value) / std::pow(1e-12, 2.0 / 3.0);
  EXPECT_NEAR(first / second, 1.0, slow_approach);
  // Large widths: a Gaussian prior.
  EXPECT_NEAR(NoisySpectrum(1e6, 0.3).mmse().value, 0.3 / 1.3, inverse_of_the_width);
}

TEST(AimSpectrum, BothFormsOfTheErrorAgree) {
  for (const double rho : ratios) {
    for (const double delta : {0.03, 0.3, 1.0, 3.0, 30.0}) {
      const NoisySpectrum s(rho, delta);
      const Estimate variance =
          s.mean([rho](double, double xi) { return std::pow(xi - std::sqrt(rho), 2); });
      EXPECT_NEAR(delta * s.shrinkage().value, 1.0 - variance.value,
                  1e-13 * (1.0 + delta) + 2.0 * variance.error);
    }
  }
}

TEST(AimSpectrum, DenoiserIsContinuousAndRisesEverywhere) {
  for (const double rho : {0.1, 0.5, 2.0}) {
    for (const double delta : {0.02, 0.5}) {
      const NoisySpectrum s(rho, delta);
      const double low = s.bands().front().low - 1.0;
      const double high = s.bands().back().high + 1.0;
      double last = s.denoiser(low);
      for (int i = 1; i <= 4000; ++i) {
        const double now = s.denoiser(low + (high - low) * i / 4000.0);
        EXPECT_GT(now, last - 1e-12);
        EXPECT_LT(now - last, 0.2);
        last = now;
      }
    }
  }
}

TEST(AimSpectrum, BeyondTheEdgesTheDenoiserTrustsWhatIsNotNoise) {
  // [aim 34]: hardly any of an outlier of wide noise, nearly all of one without noise.
  const NoisySpectrum wide(0.5, 100.0);
  const double edge = wide.bands().back().high;
  EXPECT_NEAR(wide.denoiser(edge + 1e-9), wide.denoiser(edge), root_at_an_edge);
  EXPECT_LT(wide.denoiser(1.3 * edge) - wide.denoiser(edge), 0.01 * edge);
  EXPECT_GT(wide.denoiser(-1.3 * edge), wide.denoiser(wide.bands().front().low) - 0.01 * edge);
  const NoisySpectrum narrow(0.5, 1e-6);
  const double top = narrow.bands().back().high;
  EXPECT_NEAR(narrow.denoiser(top + 0.1), top + 0.1, inverse_of_the_distance);
}

TEST(AimSpectrum, RefusesNumbersOutOfRange) {
  EXPECT_THROW(NoisySpectrum(0.0, 1.0), InvalidArgument);
  EXPECT_THROW(NoisySpectrum(1e-300, 1.0), InvalidArgument);
  EXPECT_THROW(NoisySpectrum(-1.0, 1.0), InvalidArgument);
  EXPECT_THROW(NoisySpectrum(1.0, 0.0), InvalidArgument);
  EXPECT_THROW(NoisySpectrum(1.0, std::nan("")), InvalidArgument);
}

/// One random matrix of size 1000: its error fluctuates by some 1/d, the test allows 2 %.
/// I-MMSE: a quarter of the error, also next to the gap and for wide noise.
TEST(AimSpectrum, InformationGrowsByAQuarterOfTheError) {
  for (const double rho : {0.05, 0.5, 1.0, 4.0}) {
    for (const double delta : {1e-3, 0.1, two_band_delta(rho) + 0.01, 1.0, 50.0}) {
      const double step = 1e-4 / delta;
      const double slope = (NoisySpectrum(rho, 1.0 / (1.0 / delta + step)).information().value -
                            NoisySpectrum(rho, 1.0 / (1.0 / delta - step)).information().value) /
                           (2.0 * step);
      const double expected = 0.25 * NoisySpectrum(rho, delta).mmse().value;
      // Differences of information, known to some roundings, over the step.
      EXPECT_NEAR(
          slope, expected,
          tolerance::coarse_difference_quotient * expected + tolerance::dozens_of_roundings / step)
          << rho << " " << delta;
    }
  }
  EXPECT_NEAR(NoisySpectrum(0.5, 1e8).information().value, 0.0,
              tolerance::dozens_of_roundings + 0.25e-8);
}

TEST(LongAimSpectrum, DenoiserReachesTheMmseOfARandomMatrix) {
  constexpr std::size_t dim = 1000;
  for (const auto& [rho, delta] : {std::pair{0.5, 0.3}, std::pair{0.1, 3.0}}) {
    const auto width = static_cast<std::size_t>(rho * dim);
    std::vector<double> w(dim * width);
    numerics::Stream(7, "test wishart").normal(w);
    std::vector<double> s(dim * dim);
    numerics::multiply_by_transpose({w.data(), dim, width}, {w.data(), dim, width}, s, {});
    for (double& x : s) x /= std::sqrt(static_cast<double>(width * dim));
    std::vector<double> y = s;
    numerics::Stream noise(8, "test noise");
    for (std::size_t i = 0; i < dim; ++i) {
      for (std::size_t j = i; j < dim; ++j) {
        const double z = noise.normal() * std::sqrt((i == j ? 2.0 : 1.0) * delta / dim);
        y[i * dim + j] += z;
        if (i != j) y[j * dim + i] += z;
      }
    }
    std::vector<double> values(dim);
    numerics::symmetric_eigen(dim, y, values);
    const NoisySpectrum spectrum(rho, delta);
    // ||S - U xi U^T||^2 = ||S||^2 - 2 sum xi_k u_k^T S u_k + sum xi_k^2
    std::vector<double> us(dim * dim);
    numerics::multiply({y.data(), dim, dim}, {s.data(), dim, dim}, us, {});
    double error = 0.0;
    for (const double x : s) error += x * x;
    for (std::size_t k = 0; k < dim; ++k) {
      double quadratic = 0.0;
      for (std::size_t i = 0; i < dim; ++i) quadratic += us[k * dim + i] * y[k * dim + i];
      const double xi = spectrum.denoiser(values[k]);
      error += xi * xi - 2.0 * xi * quadratic;
    }
    EXPECT_NEAR(error / dim, spectrum.mmse().value, 0.02 * spectrum.mmse().value);
  }
}

}  // namespace
}  // namespace onset::aim
