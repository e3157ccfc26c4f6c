#include "smi/limits/typed/typed_checks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/simd/vector_math.hpp"
#include "smi/limits/typed/verdict.hpp"

namespace onset::smi {
namespace {

using numerics::Replicates;

/// The largest defect of E<xi xi^T> = I that is taken for scatter, in standard errors; false alarms
/// are rarer than 1e-6 for the few entries that are looked at.
constexpr double defect_errors = 8.0;
constexpr double defect_allowed = 2e-3;
/// Squares over masses change by up to so many times the part of the mass that was missed.
constexpr double missed_part = 2.0;
/// Labels that may be missing before it counts.
constexpr double missing_allowed = 0.02;
/// Labels that were not met count as others do, relative to the average, unless they are as far out
/// as this.
constexpr double far_out = 2.5;
/// They are not all at one distance: a factor on what one distance would give.
constexpr double far_part = 3.0;

}  // namespace

double missed_weight(double mass, double excess, int degree) {
  if (!(mass > 0.0)) return 0.0;
  double furthest = std::min(0.5 * mass, 0.5);
  numerics::simd::normal_quantile({&furthest, 1}, {&furthest, 1});
  const double square = std::min(1.0 + excess / mass, furthest * furthest);
  if (square < far_out * far_out) return 0.0;
  double before = 0.0;
  double now = 1.0;
  for (int k = 0; k < degree; ++k) {
    // h_(k + 1) from h_k and h_(k - 1), which are normalised.
    const double next =
        (std::sqrt(square) * now - std::sqrt(static_cast<double>(k)) * before) / std::sqrt(k + 1.0);
    before = std::exchange(now, next);
  }
  return far_part * mass * now * now;
}

double ratio_bias(const std::vector<TypedAverages>& averages) {
  double sum = 0.0;
  for (const TypedAverages& a : averages) sum += a.ratio_bias;
  return sum / static_cast<double>(averages.size());
}

Estimate estimate(const Replicates& values, const SharedErrors& shared) {
  const bool scatters = values.size() > 1;
  const Estimate mass =
      scatters ? numerics::reduce(shared.masses) : Estimate{shared.masses.front(), 0.0};
  const double value = numerics::mean(values);
  const double missed = std::max(0.0, std::abs(mass.value - 1.0) - 3.0 * mass.error);
  const double relative = std::max(missed_part * missed, shared.ratio_bias);
  const double rounding = scatters ? exact_error : one_field_error;
  const double bias = std::max({rounding, shared.rule, relative * std::abs(value)});
  return scatters ? numerics::reduce(values, bias) : Estimate{value, bias};
}

Estimate estimate(const Replicates& values, const std::vector<TypedAverages>& averages,
                  double rule_error) {
  SharedErrors shared{{}, ratio_bias(averages), rule_error};
  for (const TypedAverages& a : averages) shared.masses.push_back(a.mass);
  return estimate(values, shared);
}

std::string doubt_in(const std::vector<TypedAverages>& averages) {
  const Eigen::Index size = averages.front().defect.rows();
  // Second moments are ratios too, of about 1.
  const double bias = ratio_bias(averages);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      Replicates values;
      for (const TypedAverages& a : averages) values.push_back(a.defect(i, j));
      const Estimate defect = estimate(values, averages, averages.front().rule_error.growth);
      if (std::abs(defect.value) > defect_errors * std::hypot(defect.error, bias) &&
          std::abs(defect.value) > defect_allowed) {
        return "the posterior's second moments do not average to the prior's: some of its parts "
               "were missed";
      }
    }
  }
  for (const TypedAverages& a : averages) {
    if (std::abs(a.mass - 1.0) > missing_allowed) {
      return "some labels were not found by the integration";
    }
  }
  return {};
}

}  // namespace onset::smi
