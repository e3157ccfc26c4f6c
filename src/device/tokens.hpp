#pragma once

#include <cstddef>
#include <span>

#include "onset/device/plugin.hpp"

namespace onset::device {

/// The tokens of a data set on the device of this machine. Functions are those of
/// OnsetDevicePlugin, and throw IoError with its message where one fails, for instance for lack of
/// memory; the constructors throw Refused where there is no device.
class Tokens {
 public:
  /// Copies what is in memory.
  Tokens(OnsetTokenShape shape, std::span<const double> tokens);
  /// Makes the normals of a stream there.
  Tokens(OnsetTokenShape shape, OnsetDraws draws);
  ~Tokens();
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;

  [[nodiscard]] const OnsetTokenShape& shape() const { return shape_; }

  void pair_products(std::span<const double> matrix, std::span<double> out);
  void squared_norms(std::span<double> out);
  void weighted_products(std::span<const double> weights, std::span<double> out);
  void eigenvalues(std::span<const double> matrix, std::span<double> values);
  void with_eigenvalues(std::span<const double> values, std::span<double> out);
  void student_products(std::span<const double> weights, std::size_t width, std::size_t count,
                        std::span<double> out);
  void student_gradients(std::span<const double> slopes, std::span<double> out);

 private:
  void check(int result) const;

  const OnsetDevicePlugin& plugin_;
  OnsetTokenShape shape_;
  OnsetTokens* tokens_;
};

}  // namespace onset::device
