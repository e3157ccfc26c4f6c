#include "aim/limits/erm/cut_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "aim/limits/spectrum.hpp"
#include "numerics/random/stream.hpp"

namespace onset::aim {
namespace {

/// Closed forms and the values of an independent program agree to the digits that it printed.
constexpr double printed = 2e-15;

double error_of(const CutMoments& c, double delta, double cut) {
  return cut * cut * c.mass + c.below - delta + 2.0 * delta * c.response;
}

TEST(CutMoments, HaveTheValuesOfAnIndependentProgram) {
  const CutMoments band = cut_moments(0.5, 0.3, 0.2);
  EXPECT_NEAR(band.mass, 0.5863766018922653, printed);
  EXPECT_NEAR(band.excess, 0.7029529543392734, printed);
  EXPECT_NEAR(band.square, 1.430181888463981, printed);
  EXPECT_NEAR(band.response, 0.6496959882364292, printed);
  EXPECT_NEAR(band.slope, 0.5171819124278109, printed);
  EXPECT_NEAR(band.response_slope, -0.0229645648501521, printed);
  EXPECT_NEAR(error_of(band, 0.3, 0.2), 0.1784545227421668, printed);
  const CutMoments gap = cut_moments(0.3, 0.01, 0.2);
  EXPECT_NEAR(gap.mass, 0.3, printed);
  EXPECT_NEAR(gap.excess, 0.4893657251776817, printed);
  EXPECT_NEAR(gap.square, 1.097362709928927, printed);
  EXPECT_NEAR(gap.response, 0.4460732930993801, printed);
  EXPECT_NEAR(gap.slope, 0.3286335345030997, printed);
  EXPECT_NEAR(gap.response_slope, 0.18, printed);
  EXPECT_NEAR(error_of(gap, 0.01, 0.2), 0.0158124658619876, printed);
  const CutMoments wide = cut_moments(1.0, 2.0, 1.0);
  EXPECT_NEAR(wide.mass, 0.4809664342872845, printed);
  EXPECT_NEAR(wide.excess, 0.729197862948044, printed);
  EXPECT_NEAR(wide.square, 1.595405117130836, printed);
  EXPECT_NEAR(wide.response, 0.484452062844642, printed);
}

/// Quadrature over [aim 11], whose nodes know nothing of the closed forms. The kink of f costs the
/// double-exponential rule digits, so that the cut is put at an edge of the upper band.
TEST(CutMoments, AgreeWithQuadratureAboveTheGap) {
  const double rho = 0.2;
  const double delta = 0.05;
  const NoisySpectrum spectrum(rho, delta);
  ASSERT_EQ(spectrum.bands().size(), 2U);
  const double cut = 0.5 * (spectrum.bands()[0].high + spectrum.bands()[1].low);
  const CutMoments c = cut_moments(rho, delta, cut);
  const auto above = [&](auto f) {
    return spectrum.mean([&](double x, double denoised) { return x > cut ? f(x, denoised) : 0.0; })
        .value;
  };
  constexpr double quadrature = 1e-12;
  EXPECT_NEAR(c.mass, above([](double, double) { return 1.0; }), quadrature);
  EXPECT_NEAR(c.excess, above([&](double x, double) { return x - cut; }), quadrature);
  EXPECT_NEAR(c.square, above([&](double x, double) { return (x - cut) * (x - cut); }), quadrature);
  // 2 Re g = (x - denoised) / delta.
  EXPECT_NEAR(c.response, above([&](double x, double xi) { return (x - xi) / delta * (x - cut); }),
              quadrature / delta);
  EXPECT_NEAR(c.slope, above([&](double x, double xi) { return (x - xi) / delta; }),
              quadrature / delta);
  EXPECT_NEAR(c.below, 1.0 + rho + delta - above([](double x, double) { return x * x; }),
              quadrature);
}

TEST(CutMoments, AreDerivativesOfOneAnotherOverRandomParameters) {
  numerics::Stream stream(3, "cut moments test");
  for (int i = 0; i < 300; ++i) {
    const double rho = std::exp(-5.0 + 6.0 * stream.uniform());
    const double delta = std::exp(-4.0 + 7.0 * stream.uniform());
    const double cut = -1.0 + 5.0 * stream.uniform();
    // Central differences: an error of step^2, large beside an edge, where derivatives are roots.
    const double step = 1e-5 * std::sqrt(delta);
    const NoisySpectrum spectrum(rho, delta);
    double distance = 1e9;
    for (const Band& band : spectrum.bands()) {
      distance = std::min({distance, std::abs(cut - band.low), std::abs(cut - band.high)});
    }
    if (distance < 0.1 * std::sqrt(delta)) continue;
    const auto slope = [&](double CutMoments::*what) {
      return (cut_moments(rho, delta, cut + step).*what -
              cut_moments(rho, delta, cut - step).*what) /
             (2.0 * step);
    };
    const auto by_delta = [&](double CutMoments::*what) {
      const double h = 1e-5 * delta;
      return (cut_moments(rho, delta + h, cut).*what - cut_moments(rho, delta - h, cut).*what) /
             (2.0 * h);
    };
    const CutMoments c = cut_moments(rho, delta, cut);
    constexpr double differences = 1e-7;
    EXPECT_NEAR(slope(&CutMoments::excess), -c.mass, differences);
    EXPECT_NEAR(slope(&CutMoments::square), -2.0 * c.excess, differences * (1.0 + c.excess));
    EXPECT_NEAR(slope(&CutMoments::response), -c.slope, differences * (1.0 + c.slope));
    EXPECT_NEAR(by_delta(&CutMoments::square), c.response, differences * (1.0 + c.square / delta));
    EXPECT_NEAR(by_delta(&CutMoments::response), c.response_slope,
                differences * (1.0 + std::abs(c.response_slope) + 1.0 / delta));
  }
}

TEST(CutMoments, OutsideTheSupportEverythingOrNothingIsAbove) {
  for (const double rho : {0.1, 0.7, 3.0}) {
    const NoisySpectrum spectrum(rho, 0.2);
    const CutMoments all = cut_moments(rho, 0.2, spectrum.bands().front().low - 0.01);
    EXPECT_EQ(all.mass, 1.0);
    EXPECT_EQ(all.below, 0.0);
    EXPECT_DOUBLE_EQ(error_of(all, 0.2, 0.5), 0.2 + 0.25);  // delta + cut^2, whatever the cut is
    const CutMoments none = cut_moments(rho, 0.2, spectrum.bands().back().high + 0.01);
    EXPECT_EQ(none.mass, 0.0);
    EXPECT_DOUBLE_EQ(error_of(none, 0.2, 9.0), 1.0 + rho);
  }
}

TEST(CutMoments, KeepTheirDigitsForSmallNoise) {
  // At delta -> 0 the null directions are a semicircle of variance (1 - rho) delta: everything
  // scales, and only corrections of order sqrt(delta) are left.
  const double rho = 0.3;
  for (const double delta : {1e-6, 1e-8, 1e-10}) {
    const double cut = 0.4 * std::sqrt(delta);
    const double ratio = error_of(cut_moments(rho, delta, cut), delta, cut) / delta;
    const double finer =
        error_of(cut_moments(rho, 1e-2 * delta, 0.1 * cut), 1e-2 * delta, 0.1 * cut) /
        (1e-2 * delta);
    EXPECT_NEAR(ratio, finer, 2.0 * std::sqrt(delta));
  }
}

}  // namespace
}  // namespace onset::aim
