#pragma once

#include <array>
#include <cstddef>

#include "aim/limits/flow/dynamics.hpp"

namespace onset::aim {

/// The numbers that are reported of a student, and their places.
enum class FlowNumber : std::size_t { risk, mse, q, p, anti, trace, alignment, disagreement };
inline constexpr std::size_t flow_number_count = 8;

/// One value for each; NaN where a student has none.
class FlowNumbers {
 public:
  [[nodiscard]] double& operator[](FlowNumber which) {
    return values[static_cast<std::size_t>(which)];
  }
  [[nodiscard]] double operator[](FlowNumber which) const {
    return values[static_cast<std::size_t>(which)];
  }
  std::array<double, flow_number_count> values{};
};

/// `risk` is that of the student. The disagreement of hardmax labels [aim 78] is known for two
/// tokens, and for more where the student is symmetric.
[[nodiscard]] FlowNumbers flow_numbers(const FlowModel& model, const StudentMoments& student,
                                       double risk);

}  // namespace onset::aim
