#pragma once

#include <cstddef>
#include <string_view>

namespace onset::ssi {

/// The loss of one sample; three occur in the literature and have different landscapes and steps.
enum class SampleLoss {
  half_squared,  ///< |y - f|^2 / 2: the one that is analysed, and the default everywhere
  squared,       ///< |y - f|^2: torch's MSELoss
  frobenius,     ///< |y - f|: the unsquared norm, minimised by the published positional runs
};
[[nodiscard]] std::string_view to_string(SampleLoss loss);

/// dl/df for the residual f - y (outputs x count, in place).
void loss_weights(SampleLoss loss, std::size_t outputs, std::size_t count, double* residual);
/// The loss itself from the residual.
void loss_values(SampleLoss loss, std::size_t outputs, std::size_t count, const double* residual,
                 double* out);

}  // namespace onset::ssi
