#pragma once

namespace onset::numerics {

/// The pseudo-value of one of `count` units, from what is found with all and without this one.
/// The mean of all pseudo-values has no bias of first order, their scatter is its error.
template <class Value>
[[nodiscard]] Value pseudo_value(Value whole, Value without, double count) {
  whole *= count;
  without *= 1.0 - count;
  whole += without;
  return whole;
}

}  // namespace onset::numerics
