// A link of one's own: check it in three lines, then ask when it is learned.

#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>

#include "onset/onset.hpp"
#include "onset/smi/limits/staircase.hpp"
#include "onset/smi/model/link.hpp"
#include "onset/testing/check_model.hpp"

// y = |z|: the two fields z = y and z = -y have the same label.
struct Modulus {
  [[nodiscard]] onset::smi::FieldShape shape() const { return {1, {1}}; }
  [[nodiscard]] int label_size() const { return 1; }
  [[nodiscard]] double constraints() const { return 1.0; }  // numbers that a label fixes
  void label(std::span<const double> z, std::span<double> y) const { y[0] = std::fabs(z[0]); }

  // The law of z given y under a Gaussian prior, in units of its deviation; returns log p(y).
  double posterior(std::span<const double> y, std::span<const double> omega,
                   std::span<const double> variance, std::span<double> mean,
                   std::span<double> second) const {
    const double deviation = std::sqrt(variance[0]);
    const double a = (y[0] - omega[0]) / deviation;
    const double b = (-y[0] - omega[0]) / deviation;
    const double log_ratio = 0.5 * (a * a - b * b);
    const double p = 1.0 / (1.0 + std::exp(log_ratio));
    mean[0] = p * a + (1.0 - p) * b;
    second[0] = p * a * a + (1.0 - p) * b * b;
    const double log_sum = std::fmax(log_ratio, 0.0) + std::log1p(std::exp(-std::fabs(log_ratio)));
    return log_sum - 0.5 * a * a - 0.5 * std::log(2.0 * std::numbers::pi * variance[0]);
  }
};

int main() {
  const auto model = onset::smi::make_model(Modulus{});
  const onset::testing::ModelReport report = onset::testing::check_model(*model);
  for (const std::string& finding : report.findings) std::printf("check: %s\n", finding.c_str());
  if (!report.passed) return 1;

  const onset::smi::Staircase stairs = onset::smi::staircase(*model, {}, {.threads = 2});
  const onset::Estimate alpha = stairs.steps.front().alpha;
  std::printf("learned from alpha = %.5f +- %.5f on (exactly: 1/2)\n", alpha.value, alpha.error);
  return 0;
}
