#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// The posterior of independent fields of variance V given the product of their signs: a sum over
/// the sign patterns with that product, each a box of half lines. It takes one to three fields and
/// returns the log probability of the product.
[[nodiscard]] double sign_product_posterior(bool positive, std::span<const double> omega,
                                            double variance, std::span<double> mean,
                                            std::span<double> second);

/// y = sign(z_1 .. z_P): P = 1 is the perceptron, P = 2 learns from the second moment, P = 3 has
/// neither a mean nor a second moment given the label.
struct SignProductLink {
  int directions = 1;

  [[nodiscard]] FieldShape shape() const { return {1, {directions}}; }
  [[nodiscard]] static int label_size() { return 1; }
  [[nodiscard]] static double constraints() { return 0.0; }
  static void label(std::span<const double> z, std::span<double> y) {
    y[0] = 1.0;
    for (const double field : z) y[0] = std::copysign(1.0, field) * y[0];
  }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second) {
    return sign_product_posterior(label[0] > 0.0, omega, variance[0], mean, second);
  }
};

}  // namespace onset::smi
