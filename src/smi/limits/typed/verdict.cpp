#include "smi/limits/typed/verdict.hpp"

#include <algorithm>
#include <cmath>

namespace onset::smi {
namespace {

/// To be called present, a weight must exceed this as well if it scatters, or if lower degrees are
/// not excluded by symmetry.
constexpr double present_weight = 3e-5;
/// It is absent below both of these limits; in between nothing is claimed.
constexpr double absent_errors = 3.0;
constexpr double absent_error = 1e-5;

}  // namespace

Verdict verdict(const Estimate& weight, LowerDegrees lower) {
  const bool scatters = weight.error >= exact_error;
  const double rounding = scatters ? exact_error : one_field_error;
  const double error = std::max(weight.error, rounding);
  const double least = scatters || lower == LowerDegrees::small ? present_weight : 0.0;
  if (weight.value > std::max(present_errors * error, least)) {
    return Verdict::present;
  }
  if (std::abs(weight.value) < absent_errors * error + rounding && error < absent_error) {
    return Verdict::absent;
  }
  return Verdict::unresolved;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::present: return "present";
    case Verdict::absent: return "absent";
    case Verdict::unresolved: return "unresolved";
  }
  return "";
}

}  // namespace onset::smi
