#include "aim/limits/flow/stability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "aim/limits/flow/teacher_law.hpp"

namespace onset::aim {
namespace {

/// The largest eigenvalue of the positive map of [aim 105] on variances V_ij of the error in the
/// teacher's basis, by power iteration: d^2 numbers, all positive.
double variance_growth(double rho, std::size_t dim) {
  constexpr int max_iterations = 1000;
  constexpr double precision = 1e-10;
  const std::vector<double> lambda = teacher_quantiles(rho, dim);
  const auto d = static_cast<double>(dim);
  std::vector<double> v(dim * dim, 1.0 / (d * d));
  std::vector<double> off_row(dim);
  double growth = 0.0;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    double sum = 0.0;
    for (std::size_t i = 0; i < dim; ++i) {
      double row = 0.0;
      for (std::size_t j = 0; j < dim; ++j) row += v[i * dim + j];
      sum += row;
      off_row[i] = row - v[i * dim + i];
    }
    std::vector<double> next(dim * dim);
    double total = 0.0;
    for (std::size_t i = 0; i < dim; ++i) {
      const double own = v[i * dim + i];
      for (std::size_t j = 0; j < dim; ++j) {
        const double k = i == j ? 4.0 * sum + 32.0 * off_row[i] + 56.0 * own
                                : 2.0 * sum + 8.0 * (off_row[i] + off_row[j]) +
                                      8.0 * (own + v[j * dim + j]) + 16.0 * v[i * dim + j];
        next[i * dim + j] = (lambda[i] + lambda[j]) * k / (2.0 * d * d);
        total += next[i * dim + j];
      }
    }
    for (double& x : next) x /= total;
    v = std::move(next);
    const bool settled = std::abs(total - growth) < precision * total;
    growth = total;  // V was normalised to a sum of 1
    if (settled) break;
  }
  return growth;
}

}  // namespace

double max_stable_rate(const FlowModel& model, const Risk& risk) {
  const Risk::NoiseGrowth growth = risk.noise_growth();
  if (!(growth.symmetric > 0.0)) return std::numeric_limits<double>::infinity();
  const double norm = model.teacher_norm();
  const Drift drift = risk.drift({.p = norm, .q = norm});
  const double root = std::sqrt(model.labels.rho);
  switch (model.student) {
    case Student::direct: return 2.0 * drift.symmetric / growth.symmetric;
    case Student::tied: return drift.symmetric / (2.0 * root * growth.symmetric);
    case Student::untied: break;
  }
  // Symmetric and antisymmetric errors feed each other's noise: the largest eigenvalue of two.
  const double a = growth.symmetric / drift.symmetric;
  if (!(drift.antisymmetric > 0.0)) return 1.0 / (root * a);
  const double d = growth.antisymmetric / drift.antisymmetric;
  const double bc = growth.mixed * growth.mixed / (drift.symmetric * drift.antisymmetric);
  const double largest = 0.5 * (a + d + std::sqrt((a - d) * (a - d) + 4.0 * bc));
  return 1.0 / (root * largest);
}

double stable_share(Student student, double rho, std::size_t dim) {
  const auto d = static_cast<double>(dim);
  if (student == Student::direct) return 1.0 / (1.0 + 9.0 / d + 16.0 / (d * d));
  // 1/share - 1 falls like 1/d.
  constexpr std::size_t enough = 200;
  const std::size_t used = std::min(dim, enough);
  const double limit = 0.5 / std::sqrt(rho);
  const double excess = limit * variance_growth(rho, used) - 1.0;
  return 1.0 / (1.0 + excess * static_cast<double>(used) / d);
}

}  // namespace onset::aim
