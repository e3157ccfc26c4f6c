#include "ssi/learners/power_law.hpp"

#include <algorithm>
#include <cmath>

namespace onset::ssi {

Estimate PowerLaw::at(double size) const {
  const double off = std::log(size) - log_centre;
  const double value = std::exp(log_height.value + exponent.value * off);
  return {value, value * std::hypot(log_height.error, exponent.error * off)};
}

std::optional<PowerLaw> power_law(const std::vector<double>& sizes,
                                  const std::vector<Estimate>& values) {
  double w = 0.0;
  double wx = 0.0;
  double wy = 0.0;
  double wxx = 0.0;
  double wxy = 0.0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double x = std::log(sizes[i]);
    const double y = std::log(values[i].value);
    const double relative = std::max(values[i].error / values[i].value, 1e-12);
    const double weight = 1.0 / (relative * relative);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const double spread = w * wxx - wx * wx;
  if (sizes.size() < 2 || !(spread > 0.0)) return std::nullopt;
  return PowerLaw{.exponent = {(w * wxy - wx * wy) / spread, std::sqrt(w / spread)},
                  .log_centre = wx / w,
                  .log_height = {wy / w, 1.0 / std::sqrt(w)}};
}

}  // namespace onset::ssi
