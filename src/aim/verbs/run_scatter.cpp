#include "aim/verbs/run_scatter.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <limits>

#include "onset/numerics/replicates.hpp"

namespace onset::aim {

Estimate mean_of_runs(std::span<const double> values) {
  if (values.size() == 1) return {values[0], std::numeric_limits<double>::quiet_NaN()};
  constexpr double below_one_sigma = 0.84134474606854293;  // of a Gaussian
  const boost::math::students_t law(static_cast<double>(values.size() - 1));
  const Estimate plain = numerics::reduce(values);
  return {plain.value, plain.error * boost::math::quantile(law, below_one_sigma)};
}

}  // namespace onset::aim
