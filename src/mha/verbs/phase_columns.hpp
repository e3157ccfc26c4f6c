#pragma once

#include <cmath>
#include <optional>

#include "mha/learners/six_phases.hpp"

namespace onset::mha {

/// Meanings of the columns that several verbs have.
inline constexpr const char* phase_text = "1 to 6";
inline constexpr const char* name_text = "what it did";
inline constexpr const char* gap_text =
    "ratio of singular values behind the heads; 3 and more counts";
inline constexpr const char* residual_text = "relative residual on held-out examples";

/// An infinite score says that there is none.
[[nodiscard]] inline std::optional<double> finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace onset::mha
