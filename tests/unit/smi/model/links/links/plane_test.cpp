#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/bessel.hpp>

#include "smi/model/links.hpp"
#include "unit/smi/model/links/link_oracles.hpp"

namespace onset::smi {
namespace {

using namespace link_oracle;

void expect_same(const Moments& given, const Moments& wanted, double tolerance) {
  EXPECT_NEAR(given.log_z, wanted.log_z, tolerance * (1.0 + std::fabs(wanted.log_z)));
  for (std::size_t i = 0; i < wanted.mean.size(); ++i) {
    EXPECT_NEAR(given.mean[i], wanted.mean[i], tolerance * (1.0 + std::fabs(wanted.mean[i]))) << i;
  }
  for (std::size_t i = 0; i < wanted.second.size(); ++i) {
    EXPECT_NEAR(given.second[i], wanted.second[i], tolerance * (1.0 + std::fabs(wanted.second[i])))
        << i;
  }
}

// The product as an integral over z_1 itself, in pieces around all places where it may peak.
// Energies are taken relative to that at `peak`, a point near the mode.
Moments product_by_quadrature(double y, double omega_1, double omega_2, double v) {
  const double deviation = std::sqrt(v);
  std::vector<double> ends = {0.0};
  std::vector<double> peaks = {omega_1, y / omega_2, std::sqrt(std::fabs(y)),
                               -std::sqrt(std::fabs(y))};
  for (const double peak : peaks) {
    for (const double by : {0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 6.0, 10.0, 20.0, 50.0}) {
      // Around y / omega_2 the width is that of z_2.
      const double width = deviation * std::fmin(1.0, peak * peak / std::fabs(y) + 1e-3);
      ends.insert(ends.end(), {peak - by * width, peak + by * width, peak - by * deviation,
                               peak + by * deviation});
    }
  }
  // For small products z_1 ranges over decades, down to where z_2 is far out.
  for (double x = 0.03 * std::fabs(y); x < 30.0; x *= 1.5) ends.insert(ends.end(), {x, -x});
  std::erase_if(ends, [](double x) { return !std::isfinite(x); });  // omega_2 = 0
  std::sort(ends.begin(), ends.end());
  const auto energy = [&](double x) {
    const double a = (x - omega_1) / deviation;
    const double b = (y / x - omega_2) / deviation;
    return 0.5 * (a * a + b * b);
  };
  double lowest = 1e300;
  for (const double x : ends) {
    if (x != 0.0) lowest = std::fmin(lowest, energy(x));
  }
  const auto moment = [&](int i, int j) {
    return integral(
        [&](double x) {
          if (x == 0.0) return 0.0;
          return std::exp(lowest - energy(x)) / std::fabs(x) *
                 std::pow((x - omega_1) / deviation, i) *
                 std::pow((y / x - omega_2) / deviation, j);
        },
        ends, 2);
  };
  const double z = moment(0, 0);
  return {std::log(z / (2.0 * std::numbers::pi * v)) - lowest,
          {moment(1, 0) / z, moment(0, 1) / z},
          {moment(2, 0) / z, moment(1, 1) / z, moment(0, 2) / z}};
}

struct ProductCase {
  double y;
  double omega_1;
  double omega_2;
  double variance;
};

TEST(LinkProduct, AgreesWithQuadratureOverOneField) {
  const std::vector<ProductCase> cases = {
      {0.7, 0.0, 0.0, 1.0},       {-0.7, 0.3, 0.4, 0.8},    {1e-3, 0.2, -0.1, 0.5},
      {-2.0, -1.0, 0.5, 0.3},     {0.5, 1.0, 0.6, 0.01},    {0.05, 0.2, 0.2, 0.01},
      {-0.05, 0.2, 0.2, 0.01},    {0.6, 1.0, 0.601, 1e-4},  {0.3, 1.0, 1.0, 0.05},
      {0.02, 0.5, 0.5, 0.01},     {0.25, 1.5, 1.5, 0.1},    {-0.3, -0.5, 0.6, 1e-6},
      {1e-4, 1e-2, 0.011, 1e-6},  {1e-7, 1e-3, 2e-3, 1e-6}, {4.0, 0.1, 0.1, 0.2},
      {0.8, 0.9, 0.888889, 1e-8},
  };
  const auto model = link_model("product");
  for (const ProductCase& c : cases) {
    SCOPED_TRACE(::testing::Message() << "y " << c.y << " omega " << c.omega_1 << ", " << c.omega_2
                                      << " V " << c.variance);
    // x - omega carries rounding of about 1e-16 / sqrt(V) in both ways of computing.
    const double tolerance = 1e-10 + 1e-14 / std::sqrt(c.variance);
    expect_same(ask(*model, {c.y}, {c.omega_1, c.omega_2}, {c.variance}),
                product_by_quadrature(c.y, c.omega_1, c.omega_2, c.variance), tolerance);
  }
}

TEST(LinkProduct, HasTheSymmetriesOfTheProduct) {
  const auto model = link_model("product");
  const Moments a = ask(*model, {0.4}, {0.9, -0.2}, {0.3});
  const Moments swapped = ask(*model, {0.4}, {-0.2, 0.9}, {0.3});
  const Moments flipped = ask(*model, {-0.4}, {-0.9, -0.2}, {0.3});
  expect_same(swapped, {a.log_z, {a.mean[1], a.mean[0]}, {a.second[2], a.second[1], a.second[0]}},
              1e-12);
  expect_same(flipped, {a.log_z, {-a.mean[0], a.mean[1]}, {a.second[0], -a.second[1], a.second[2]}},
              1e-12);
}

TEST(LinkProduct, OfTwoTokensIsTheSamePosterior) {
  const Moments a = ask(*link_model("product"), {0.4}, {0.9, -0.2}, {0.3});
  expect_same(ask(*link_model("token-product"), {0.4}, {0.9, -0.2}, {0.3}), a, 1e-15);
}

TEST(LinkProduct, StaysFiniteAtTinyProductsAndFarFromItsPrior) {
  const auto model = link_model("product");
  for (const double v : {1.0, 1e-3, 1e-10}) {
    for (const double y : {0.0, 1e-20, -1e-8, 30.0, -90.0}) {
      for (const double omega : {0.0, 1e-9, 0.3, -3.0}) {
        const Moments m = ask(*model, {y}, {omega, 1.0}, {v});
        EXPECT_TRUE(std::isfinite(m.log_z) && std::isfinite(m.mean[0]) &&
                    std::isfinite(m.second[2]))
            << "V " << v << " y " << y << " omega " << omega;
      }
    }
  }
}

TEST(LinkNorm, IsTheFormulaWithBesselFunctions) {
  const auto model = link_model("norm");
  for (const double v : {1.0, 0.2, 0.01}) {
    for (const double radius : {0.05, 0.8, 1.3}) {
      const std::vector<double> omega = {0.6, -0.8};
      const double kappa = radius / v;
      const auto bessel = [&](int order) { return boost::math::cyl_bessel_i(order, kappa); };
      const double cosine = bessel(1) / bessel(0);
      const double cosine_squared = 0.5 * (1.0 + bessel(2) / bessel(0));
      const double along = (radius * cosine - 1.0) / std::sqrt(v);
      const double along_2 = (radius * radius * cosine_squared - 2.0 * radius * cosine + 1.0) / v;
      const double across_2 = radius * radius * (1.0 - cosine_squared) / v;
      const Moments wanted = {
          std::log(radius / v * bessel(0)) - (radius * radius + 1.0) / (2.0 * v),
          {0.6 * along, -0.8 * along},
          {0.36 * along_2 + 0.64 * across_2, -0.48 * (along_2 - across_2),
           0.64 * along_2 + 0.36 * across_2}};
      // The closed form cancels by a factor of 1 / V.
      expect_same(ask(*model, {radius}, omega, {v}), wanted, 1e-13 / v);
    }
  }
}

// Moments of a given b: a normal truncated to (low, high).
struct Slice {
  double mass;
  double first;
  double second;
};
Slice slice(double low, double high) {
  const double mass = low > 0.0 ? cdf(-low) - cdf(-high) : cdf(high) - cdf(low);
  const double at_low = std::isinf(low) ? 0.0 : low * density(low);
  const double at_high = std::isinf(high) ? 0.0 : high * density(high);
  return {mass, density(low) - density(high), mass + at_low - at_high};
}

// The committee as an integral over b of what a may then be.
Moments committee_by_quadrature(double y, double omega_a, double omega_b, double v_a, double v_b) {
  const double deviation_a = std::sqrt(v_a);
  const double deviation_b = std::sqrt(v_b);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto slices = [&](double zeta_b) {
    const double bound = std::fabs(omega_b + deviation_b * zeta_b);
    const double high = (bound - omega_a) / deviation_a;
    const double low = (-bound - omega_a) / deviation_a;
    if (y > 0.0) return slice(high, infinity);
    if (y < 0.0) return slice(-infinity, low);
    return slice(low, high);
  };
  std::vector<double> ends = {-omega_b / deviation_b};
  for (double x = -12.0; x <= 12.0; x += 0.25) ends.push_back(x);
  for (const double edge : {omega_a, -omega_a}) {
    for (double x = -12.0; x <= 12.0; x += 0.5) {
      ends.push_back((edge - omega_b + x * deviation_a) / deviation_b);
    }
  }
  std::erase_if(ends, [](double x) { return std::fabs(x) > 12.0; });
  std::sort(ends.begin(), ends.end());
  const auto over_b = [&](auto&& f) {
    return integral([&](double zeta) { return density(zeta) * f(zeta, slices(zeta)); }, ends, 1);
  };
  const double z = over_b([](double, const Slice& s) { return s.mass; });
  return {std::log(z),
          {over_b([](double, const Slice& s) { return s.first; }) / z,
           over_b([](double b, const Slice& s) { return b * s.mass; }) / z},
          {over_b([](double, const Slice& s) { return s.second; }) / z,
           over_b([](double b, const Slice& s) { return b * b * s.mass; }) / z}};
}

TEST(LinkCommittee, AgreesWithQuadratureOverOneField) {
  const auto model = link_model("committee");
  struct Prior {
    double omega_a, omega_b, v_a, v_b;
  };
  for (const Prior& p :
       {Prior{0.0, 0.0, 1.0, 1.0}, Prior{0.4, -0.2, 0.5, 1.0}, Prior{0.7, 0.0, 0.1, 1.0},
        Prior{0.3, 0.5, 1e-4, 1.0}, Prior{-0.2, 0.6, 0.9, 1e-3}, Prior{0.5, 0.51, 1e-4, 1e-4},
        Prior{1.5, 0.3, 0.3, 0.2}}) {
    for (const double y : {-2.0, 0.0, 2.0}) {
      SCOPED_TRACE(::testing::Message() << "y " << y << " omega " << p.omega_a << ", " << p.omega_b
                                        << " V " << p.v_a << ", " << p.v_b);
      const Moments wanted = committee_by_quadrature(y, p.omega_a, p.omega_b, p.v_a, p.v_b);
      if (!(wanted.log_z > -25.0)) continue;  // the oracle loses its tails
      expect_same(ask(*model, {y}, {p.omega_a, p.omega_b}, {p.v_a, p.v_b}), wanted, 1e-9);
    }
  }
}

}  // namespace
}  // namespace onset::smi
