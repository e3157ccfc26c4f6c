#pragma once

#include <optional>
#include <vector>

#include "onset/core/estimate.hpp"

namespace onset::ssi {

/// A line through logarithms: value = scale size^exponent.
struct PowerLaw {
  Estimate exponent;
  double log_centre = 0.0;  ///< the mean of log(size), where exponent and height are independent
  Estimate log_height;      ///< log(value) there

  /// The value of the fit at a size.
  [[nodiscard]] Estimate at(double size) const;
};

/// Fits log(value) against log(size) by least squares, weighted by the errors; nothing for fewer
/// than two points.
[[nodiscard]] std::optional<PowerLaw> power_law(const std::vector<double>& sizes,
                                                const std::vector<Estimate>& values);

}  // namespace onset::ssi
