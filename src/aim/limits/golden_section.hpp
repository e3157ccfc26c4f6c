#pragma once

#include <cmath>

namespace onset::aim {

/// Where a function of one valley is smallest, to within `width`; one evaluation a step.
template <class Function>
double golden_section(const Function& value, double low, double high, double width) {
  const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
  double a = high - golden * (high - low);
  double b = low + golden * (high - low);
  double at_a = value(a);
  double at_b = value(b);
  while (high - low > width) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - golden * (high - low);
      at_a = value(a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + golden * (high - low);
      at_b = value(b);
    }
  }
  return 0.5 * (low + high);
}

}  // namespace onset::aim
