#include <gtest/gtest.h>

#include <algorithm>

#include "smi/model/links.hpp"
#include "unit/smi/model/links/link_oracles.hpp"

namespace onset::smi {
namespace {

using namespace link_oracle;

// E[zeta^power sign(omega + sqrt(V) zeta)] under the prior, by quadrature on both sides of the
// step.
double signed_moment(int power, double omega, double variance) {
  const double step = std::clamp(-omega / std::sqrt(variance), -12.0, 12.0);
  const auto f = [&](double x) { return std::pow(x, power) * density(x); };
  return integral(f, {step, 12.0}) - integral(f, {-12.0, step});
}

// The product of signs without any sum over patterns: 1(s_1 .. s_P = y) = (1 + y s_1 .. s_P) / 2.
Moments parity_by_quadrature(double y, const std::vector<double>& omega, double variance) {
  const auto with_powers = [&](const std::vector<int>& power) {
    double plain = 1.0;
    double product = y;
    for (std::size_t i = 0; i < omega.size(); ++i) {
      plain *= power[i] == 1 ? 0.0 : 1.0;
      product *= signed_moment(power[i], omega[i], variance);
    }
    return 0.5 * (plain + product);
  };
  std::vector<int> power(omega.size());
  const double z = with_powers(power);
  Moments out{std::log(z), {}, {}};
  for (std::size_t i = 0; i < omega.size(); ++i) {
    ++power[i];
    out.mean.push_back(with_powers(power) / z);
    for (std::size_t j = 0; j <= i; ++j) {
      ++power[j];
      out.second.push_back(with_powers(power) / z);
      --power[j];
    }
    --power[i];
  }
  return out;
}

void expect_parity(const std::string& name, const std::vector<double>& omega) {
  const auto model = link_model(name);
  for (const double y : {1.0, -1.0}) {
    for (const double v : {1.0, 0.3, 0.05}) {
      SCOPED_TRACE(::testing::Message() << name << " y " << y << " V " << v);
      const Moments given = ask(*model, {y}, omega, {v});
      const Moments wanted = parity_by_quadrature(y, omega, v);
      // The oracle is a difference of numbers of order one: its relative error grows as 1 / Z.
      const double tolerance = 1e-12 / std::exp(wanted.log_z);
      EXPECT_NEAR(given.log_z, wanted.log_z, tolerance);
      for (std::size_t i = 0; i < omega.size(); ++i) {
        EXPECT_NEAR(given.mean[i], wanted.mean[i], tolerance) << i;
      }
      for (std::size_t i = 0; i < wanted.second.size(); ++i) {
        EXPECT_NEAR(given.second[i], wanted.second[i], tolerance) << i;
      }
    }
  }
}

TEST(LinkSign, AgreesWithQuadrature) {
  expect_parity("sign", {0.3});
  expect_parity("sign", {-0.9});
}

TEST(LinkSignProduct, AgreesWithQuadrature) {
  expect_parity("sign-product", {0.3, 0.4});
  expect_parity("sign-product", {0.3, -0.8});
}

TEST(LinkParity3, AgreesWithQuadrature) {
  expect_parity("parity3", {0.3, -0.4, 0.5});
}

// Integrated over an interval of labels, Z and its moments are what the prior gives to the
// interval: by scanning z_1 for either sign of the product of all three, times the signs of the
// other two.
TEST(LinkStaircase, IsThePriorOfIntervalsOfLabels) {
  const auto model = link_model("staircase");
  struct Case {
    std::vector<double> omega;
    std::vector<double> variance;
    double from, to;
  };
  for (const Case& c :
       {Case{{0.5, 0.2, -0.3}, {1.0, 0.8}, 1.2, 2.5}, Case{{-1.1, 0.7, 0.4}, {0.3, 0.2}, -0.8, 0.9},
        Case{{1.3, 0.1, 0.6}, {1e-3, 0.5}, 0.5, 2.9}}) {
    const auto over_labels = [&](auto&& read) {
      return integral(
          [&](double y) {
            const Moments m = ask(*model, {y}, c.omega, c.variance);
            return std::exp(m.log_z) * read(m);
          },
          {c.from, 0.5 * (c.from + c.to), c.to});
    };
    const auto prior = [&](int power_1, int power_2, int power_3) {
      const double v = c.variance[1];
      const auto plain = [](int power) { return power == 1 ? 0.0 : 1.0; };
      double sum = 0.0;
      for (const double sign : {1.0, -1.0}) {    // of z_1 z_2 z_3
        for (const double side : {1.0, -1.0}) {  // of z_1
          const double others = 0.5 * (plain(power_2) * plain(power_3) +
                                       sign * side * signed_moment(power_2, c.omega[1], v) *
                                           signed_moment(power_3, c.omega[2], v));
          // Fields on the other side get a label outside of every interval.
          const auto label = [&](double z) { return z * side > 0.0 ? z * z + sign : -100.0; };
          sum += others * restricted(
                              label, [&](double x) { return std::pow(x, power_1); }, c.from, c.to,
                              c.omega[0], c.variance[0]);
        }
      }
      return sum;
    };
    constexpr double tolerance = 1e-9;
    EXPECT_NEAR(over_labels([](const Moments&) { return 1.0; }), prior(0, 0, 0), tolerance);
    EXPECT_NEAR(over_labels([](const Moments& m) { return m.mean[0]; }), prior(1, 0, 0), tolerance);
    EXPECT_NEAR(over_labels([](const Moments& m) { return m.mean[2]; }), prior(0, 0, 1), tolerance);
    EXPECT_NEAR(over_labels([](const Moments& m) { return m.second[0]; }), prior(2, 0, 0),
                tolerance);
    EXPECT_NEAR(over_labels([](const Moments& m) { return m.second[2]; }), prior(0, 1, 1),
                tolerance);
    EXPECT_NEAR(over_labels([](const Moments& m) { return m.second[3]; }), prior(0, 0, 2),
                tolerance);
  }
}

}  // namespace
}  // namespace onset::smi
