#pragma once

#include <cmath>
#include <span>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// y = z_1^2 + sign(z_1 z_2 z_3): blocks z_1 and (z_2, z_3). The second block is hard as long as
/// the first is not learned, then easy.
struct StaircaseLink {
  [[nodiscard]] static FieldShape shape() { return {1, {1, 2}}; }
  [[nodiscard]] static int label_size() { return 1; }
  /// A label fixes z_1 up to finitely many values, but z_2 and z_3 only by a sign: no number of
  /// samples makes recovery perfect.
  [[nodiscard]] static double constraints() { return 0.0; }
  static void label(std::span<const double> z, std::span<double> y) {
    y[0] = z[0] * z[0] +
           std::copysign(1.0, z[0]) * std::copysign(1.0, z[1]) * std::copysign(1.0, z[2]);
  }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second, std::span<double> cross);
};

}  // namespace onset::smi
