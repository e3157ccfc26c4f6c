#include <gtest/gtest.h>

#include <algorithm>

#include "smi/model/links.hpp"
#include "smi/model/links/normal_tail.hpp"
#include "support/tolerances.hpp"
#include "unit/smi/model/links/link_oracles.hpp"

namespace onset::smi {
namespace {

/// Erfc and its ratios are good to some dozens of units in the last place, which the second
/// moment doubles.
constexpr double a_hundred_ulps = 2e-14;

using namespace link_oracle;

// The adaptive oracles are good to about 1e-12.
constexpr double tolerance = 1e-10;

struct Case {
  double omega;
  double variance;
  double from;  // an interval of labels
  double to;
};

// Integrated over an interval of labels, Z and Z times the moments are what the prior gives to it.
template <class Label>
void expect_prior_of_intervals(const std::string& name, const Label& label,
                               const std::vector<Case>& cases) {
  const auto model = link_model(name);
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << name << " omega " << c.omega << " V " << c.variance
                                      << " label " << c.from << " .. " << c.to);
    const auto over_labels = [&](auto&& read) {
      return integral(
          [&](double y) {
            const Moments m = ask(*model, {y}, {c.omega}, {c.variance});
            return std::exp(m.log_z) * read(m);
          },
          {c.from, 0.5 * (c.from + c.to), c.to});
    };
    const auto prior = [&](auto&& f) {
      return restricted(label, f, c.from, c.to, c.omega, c.variance);
    };
    EXPECT_NEAR(over_labels([](const Moments&) { return 1.0; }), prior([](double) { return 1.0; }),
                tolerance);
    EXPECT_NEAR(over_labels([](const Moments& m) { return m.mean[0]; }),
                prior([](double x) { return x; }), tolerance);
    EXPECT_NEAR(over_labels([](const Moments& m) { return m.second[0]; }),
                prior([](double x) { return x * x; }), tolerance);
  }
}

const std::vector<Case> positive_labels = {{0.0, 1.0, 0.3, 0.8},      {0.7, 0.5, 0.2, 1.1},
                                           {-1.2, 0.1, 1.0, 1.5},     {0.4, 1e-3, 0.38, 0.45},
                                           {0.4, 1e-6, 0.399, 0.401}, {0.02, 1e-3, 0.01, 0.05}};

TEST(LinkLinear, IsThePriorDensity) {
  expect_prior_of_intervals(
      "linear", [](double z) { return z; }, positive_labels);
}

TEST(LinkSquare, IsThePriorOfBothSigns) {
  expect_prior_of_intervals(
      "square", [](double z) { return std::fabs(z); }, positive_labels);
}

TEST(LinkRelu, IsThePriorDensityAboveZero) {
  expect_prior_of_intervals(
      "relu", [](double z) { return std::max(z, 0.0); }, positive_labels);
}

TEST(LinkRelu, IsATruncatedNormalAtZero) {
  for (const double k : {-3.0, 0.0, 2.0}) {  // omega / sqrt V
    const Moments m = ask(*link_model("relu"), {0.0}, {k * 0.1}, {0.01});
    const double mass = cdf(-k);
    EXPECT_NEAR(m.log_z, std::log(mass), tolerance::dozens_of_roundings);
    EXPECT_NEAR(m.mean[0], -density(k) / mass, tolerance::hundreds_of_roundings);
    EXPECT_NEAR(m.second[0], 1.0 + k * density(k) / mass, tolerance::hundreds_of_roundings);
  }
}

TEST(LinkHe4, IsThePriorOfUpToFourRoots) {
  expect_prior_of_intervals("he4", [](double z) { return std::fabs(z * z - 3.0); },
                            {{0.0, 1.0, 0.5, 2.9},
                             {1.2, 0.5, 0.1, 2.0},
                             {-1.7, 0.1, 0.01, 0.5},
                             {1.5, 1e-3, 0.6, 0.9},
                             {2.5, 0.3, 3.1, 5.0}});
}

TEST(HalfLine, KeepsRelativeAccuracyInBothTails) {
  const long double root_two_pi = std::sqrt(2.0L * std::numbers::pi_v<long double>);
  for (const double k :
       {-100.0, -40.0, -8.0, -5.001, -5.0, -4.999, -2.0, -0.1, 0.0, 0.5, 3.0, 9.0}) {
    const long double mass = 0.5L * erfcl(-k / std::numbers::sqrt2_v<long double>);
    const long double hazard = expl(-0.5L * k * k) / root_two_pi / mass;
    const HalfLine half = half_line(k);
    const double log_mass = static_cast<double>(
        k < 0 ? logl(mass) : log1pl(-0.5L * erfcl(k / std::numbers::sqrt2_v<long double>)));
    EXPECT_NEAR(half.log_mass / log_mass, 1.0, tolerance::dozens_of_roundings) << k;
    EXPECT_NEAR(half.mean / static_cast<double>(hazard), 1.0, a_hundred_ulps) << k;
    EXPECT_NEAR(half.second / static_cast<double>(1.0L - k * hazard), 1.0, a_hundred_ulps) << k;
  }
}

TEST(HalfLine, FollowsItsAsymptoticSeriesAtAMillionStandardDeviations) {
  const double k = 1e6;
  const HalfLine half = half_line(-k);
  EXPECT_NEAR(half.mean / k, 1.0 + 1.0 / (k * k), tolerance::few_roundings);
  EXPECT_NEAR(half.log_mass / (-0.5 * k * k - std::log(k * std::sqrt(2.0 * std::numbers::pi))), 1.0,
              tolerance::few_roundings);
  EXPECT_NEAR(first_half_moment(k) * k * k, 1.0, tolerance::many_roundings);
}

TEST(LinkAttention, IsTheFormulaWithTheHyperbolicTangent) {
  const double v = 0.3;
  const std::vector<double> h = {0.4, -1.1};
  const std::vector<double> omega = {0.2, 0.5};
  const Moments m = ask(*link_model("attention"), h, omega, {v});
  const double tangent = std::tanh((h[0] * omega[0] + h[1] * omega[1]) / v);
  for (std::size_t t = 0; t < 2; ++t) {
    EXPECT_NEAR(m.mean[t], (h[t] * tangent - omega[t]) / std::sqrt(v),
                tolerance::hundreds_of_roundings);
    for (std::size_t s = 0; s <= t; ++s) {
      const double wanted =
          (h[t] * h[s] - tangent * (h[t] * omega[s] + omega[t] * h[s]) + omega[t] * omega[s]) / v;
      EXPECT_NEAR(m.second[t * (t + 1) / 2 + s], wanted, tolerance::hundreds_of_roundings);
    }
  }
}

}  // namespace
}  // namespace onset::smi
