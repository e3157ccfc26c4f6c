#include "onset/numerics/replicates.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "numerics/parallel.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {

double mean(std::span<const double> values) {
  if (values.empty()) throw InvalidArgument("values", "the mean needs at least one value");
  return ordered_sum(values.data(), values.size()) / static_cast<double>(values.size());
}

namespace {

/// Sums over a replicate's points leave a few units in the last place.
constexpr double scatter_rounding = 16.0 * std::numeric_limits<double>::epsilon();

/// What scatters by rounding alone is exact, and its scatter is not an error of its mean: rounding
/// is the same in many replicates.
bool agree_to_rounding(std::span<const double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low <= scatter_rounding * std::max(std::fabs(*low), std::fabs(*high));
}

}  // namespace

Estimate reduce(std::span<const double> values, double bias_bound) {
  if (values.size() < 2) {
    throw InvalidArgument("values", "a standard error needs at least two replicates, not " +
                                        std::to_string(values.size()));
  }
  if (agree_to_rounding(values)) return {values[0], std::fabs(bias_bound)};
  const double centre = mean(values);
  const Replicates squares =
      map(values, [centre](double x) { return (x - centre) * (x - centre); });
  const double count = static_cast<double>(values.size());
  const double error =
      std::sqrt(ordered_sum(squares.data(), squares.size()) / (count - 1.0) / count);
  return {centre, std::hypot(error, bias_bound)};
}

Estimate mean_over_runs(std::span<const double> values) {
  if (values.size() == 1) return {values[0], std::numeric_limits<double>::quiet_NaN()};
  constexpr double below_one_sigma = 0.84134474606854293;  // of a Gaussian
  const Estimate plain = reduce(values);
  const boost::math::students_t law(static_cast<double>(values.size() - 1));
  return {plain.value, plain.error * boost::math::quantile(law, below_one_sigma)};
}

Estimate binomial_fraction(std::int64_t hits, std::int64_t trials) {
  if (trials < 1) throw InvalidArgument("trials", "a fraction needs at least one trial");
  const auto n = static_cast<double>(trials);
  const double shrunk = (static_cast<double>(hits) + 1.0) / (n + 2.0);
  return {static_cast<double>(hits) / n, std::sqrt(shrunk * (1.0 - shrunk) / n)};
}

Replicates map(std::span<const double> values, const std::function<double(double)>& f) {
  Replicates result(values.size());
  std::transform(values.begin(), values.end(), result.begin(), f);
  return result;
}

}  // namespace onset::numerics
