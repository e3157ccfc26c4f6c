#pragma once

#include <cmath>
#include <span>

#include "onset/smi/model/field_shape.hpp"

namespace onset::smi {

/// Links of one direction and one token.
struct OneField {
  [[nodiscard]] static FieldShape shape() { return {1, {1}}; }
  [[nodiscard]] static int label_size() { return 1; }
};

/// y = z.
struct LinearLink : OneField {
  [[nodiscard]] static double constraints() { return 1.0; }
  static void label(std::span<const double> z, std::span<double> y) { y[0] = z[0]; }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second);
};

/// y = z^2, described by |z|.
struct SquareLink : OneField {
  [[nodiscard]] static double constraints() { return 1.0; }
  static void label(std::span<const double> z, std::span<double> y) { y[0] = std::fabs(z[0]); }
  [[nodiscard]] static double observed(double size) { return size * size; }
  [[nodiscard]] static double described(double y) { return std::sqrt(y); }
  [[nodiscard]] static int prediction_size() { return 1; }
  static void prediction(std::span<const double> z, std::span<double> y) { y[0] = z[0] * z[0]; }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second);
};

/// y = z^4 - 6 z^2 + 3, described by |z^2 - 3|, which it fixes and which fixes it.
struct Hermite4Link : OneField {
  [[nodiscard]] static double constraints() { return 1.0; }
  static void label(std::span<const double> z, std::span<double> y) {
    y[0] = std::fabs(z[0] * z[0] - 3.0);
  }
  [[nodiscard]] static double observed(double distance) { return distance * distance - 6.0; }
  [[nodiscard]] static double described(double y) {
    // No label is below -6, but one in single precision may seem to be.
    constexpr double single_precision = 1e-5;
    return std::sqrt(y + 6.0 > -single_precision ? std::fmax(y + 6.0, 0.0) : y + 6.0);
  }
  [[nodiscard]] static int prediction_size() { return 1; }
  static void prediction(std::span<const double> z, std::span<double> y) {
    const double square = z[0] * z[0];
    y[0] = (square - 6.0) * square + 3.0;
  }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second);
};

/// y = max(z, 0): half of the labels fix the field, the others only its sign.
struct ReluLink : OneField {
  [[nodiscard]] static double constraints() { return 0.5; }
  static void label(std::span<const double> z, std::span<double> y) { y[0] = std::fmax(z[0], 0.0); }
  [[nodiscard]] static double posterior(std::span<const double> label,
                                        std::span<const double> omega,
                                        std::span<const double> variance, std::span<double> mean,
                                        std::span<double> second);
};

}  // namespace onset::smi
