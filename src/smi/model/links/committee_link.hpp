#pragma once

#include <cmath>
#include <span>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// y = sign(z_1) + sign(z_2). The fields are a = (z_1 + z_2) / sqrt 2, which a label shows by
/// itself, and b = (z_1 - z_2) / sqrt 2, whose sign it never shows: y = 2 sign(a) where |a| > |b|,
/// else 0.
struct CommitteeLink {
  [[nodiscard]] static FieldShape shape() { return {1, {1, 1}}; }
  [[nodiscard]] static int label_size() { return 1; }
  [[nodiscard]] static double constraints() { return 0.0; }
  static void label(std::span<const double> z, std::span<double> y) {
    y[0] = std::fabs(z[0]) > std::fabs(z[1]) ? std::copysign(2.0, z[0]) : 0.0;
  }
  [[nodiscard]] static double posterior_seconds() { return 4e-5; }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second, std::span<double> cross);
};

}  // namespace onset::smi
