#include "numerics/solvers/exit_time.hpp"

#include <gtest/gtest.h>

#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <cmath>
#include <functional>

namespace onset::numerics {
namespace {

LineDiffusion on_grid(double end, std::size_t cells, const std::function<double(double)>& drift,
                      double noise) {
  LineDiffusion out;
  for (std::size_t i = 0; i <= cells; ++i) {
    const double x = end * (2.0 * static_cast<double>(i) / static_cast<double>(cells) - 1.0);
    out.x.push_back(x);
    out.drift.push_back(drift(x));
    out.noise.push_back(noise);
  }
  return out;
}

/// Sums over some hundred nodes round to this.
constexpr double rounding = 1e-11;

TEST(ExitTime, OfBrownianMotionIsTheParabola) {
  const LineDiffusion diffusion = on_grid(
      2.0, 100, [](double) { return 0.0; }, 0.5);
  const auto u = mean_exit_times(diffusion);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double x = diffusion.x[i];
    EXPECT_NEAR(u[i], (4.0 - x * x) / 0.5, rounding);
  }
}

TEST(ExitTime, OfAConstantDriftIsExactOnAnyUniformGrid) {
  constexpr double b = 3.0;
  constexpr double s = 0.2;  // noise
  const LineDiffusion diffusion = on_grid(
      1.0, 10, [](double) { return b; }, s);
  const auto u = mean_exit_times(diffusion);
  const double k = 2.0 * b / s;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double x = diffusion.x[i];
    const double left = (1.0 - std::exp(-k * (1.0 + x))) / (1.0 - std::exp(-2.0 * k));
    EXPECT_NEAR(u[i], (2.0 * left - (1.0 + x)) / b, rounding);
  }
}

/// From an unstable point u(0) = 2/s int_0^end dx int_0^x dy exp(-k (x^2 - y^2)), k = drift'/s.
TEST(ExitTime, FromAnUnstablePointIsTheDoubleIntegralToSecondOrder) {
  constexpr double s = 0.05;
  const auto inner = [](double x) {
    return boost::math::quadrature::gauss_kronrod<double, 61>::integrate(
        [x](double y) { return std::exp((y * y - x * x) / s); }, 0.0, x, 10, 1e-12);
  };
  const double exact = boost::math::quadrature::gauss_kronrod<double, 61>::integrate(
      [&](double x) { return 2.0 / s * inner(x); }, 0.0, 1.0, 10, 1e-12);
  const auto middle = [&](std::size_t cells) {
    return mean_exit_times(on_grid(
        1.0, cells, [](double x) { return x; }, s))[cells / 2];
  };
  const double coarse = middle(400) - exact;
  const double fine = middle(800) - exact;
  EXPECT_LT(std::abs(fine), 1e-4 * exact);
  // Halving the step divides an error of second order by four.
  constexpr double least_order = 1.9;
  EXPECT_GT(std::log2(coarse / fine), least_order);
}

/// Against a strong drift to 0 the time is exp(1/s) and more; nothing is lost to rounding on the
/// way: u(0) = 2/s int_0^1 dx int_0^x dy exp((x^2 - y^2)/s).
TEST(ExitTime, FromAStablePointIsExponentiallyLong) {
  constexpr double s = 0.02;
  const auto u = mean_exit_times(on_grid(
      1.0, 4000, [](double x) { return -x; }, s));
  // Laplace's method: sqrt(pi s)/2 * s/2 * exp(1/s) * 2/s (1 + s/2 + ..).
  const double leading = 0.5 * std::sqrt(M_PI * s) * std::exp(1.0 / s);
  constexpr double next_orders = 2.0 * s;
  EXPECT_NEAR(u[2000] / leading, 1.0, next_orders);
}

}  // namespace
}  // namespace onset::numerics
