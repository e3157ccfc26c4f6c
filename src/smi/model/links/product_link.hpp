#pragma once

#include <span>
#include <utility>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// y = z_1 z_2, of two directions of one block, or of two tokens seen along one direction. The
/// posterior lives on a hyperbola and is a sum of two one-dimensional integrals, one per branch.
struct ProductLink {
  FieldShape fields;  ///< a block of two fields

  [[nodiscard]] FieldShape shape() const { return fields; }
  [[nodiscard]] static int label_size() { return 1; }
  [[nodiscard]] static double constraints() { return 1.0; }
  static void label(std::span<const double> z, std::span<double> y) { y[0] = z[0] * z[1]; }
  [[nodiscard]] static double posterior_seconds() { return 8e-6; }
  /// It is accurate to rounding, that is to about 1e-15 / sqrt(V) relative to one: 1e-10 at V =
  /// 1e-10.
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second);
};

}  // namespace onset::smi
