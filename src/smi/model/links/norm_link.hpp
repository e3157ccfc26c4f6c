#pragma once

#include <cmath>
#include <span>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// y = z_1^2 + z_2^2, described by its root: the posterior is a von Mises law of the angle. The two
/// directions are known up to a rotation of their plane.
struct NormLink {
  [[nodiscard]] static FieldShape shape() { return {1, {2}}; }
  [[nodiscard]] static int label_size() { return 1; }
  [[nodiscard]] static double constraints() { return 1.0; }
  static void label(std::span<const double> z, std::span<double> y) {
    y[0] = std::hypot(z[0], z[1]);
  }
  [[nodiscard]] static double observed(double root) { return root * root; }
  [[nodiscard]] static double described(double y) { return std::sqrt(y); }
  [[nodiscard]] static int prediction_size() { return 1; }
  static void prediction(std::span<const double> z, std::span<double> y) {
    y[0] = z[0] * z[0] + z[1] * z[1];
  }
  [[nodiscard]] static double posterior_seconds() { return 8e-6; }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second);
};

}  // namespace onset::smi
