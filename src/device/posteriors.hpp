#pragma once

#include <cstddef>
#include <span>

#include "onset/device/plugin.hpp"

namespace onset::device {

/// Posteriors of an attention network of two tokens, on the device of this machine. The functions
/// are those of OnsetDevicePlugin. They throw IoError with its message where one fails, and the
/// constructor throws Refused where there is no device.
class Posteriors {
 public:
  explicit Posteriors(const OnsetNetwork& network);
  ~Posteriors();
  Posteriors(const Posteriors&) = delete;
  Posteriors& operator=(const Posteriors&) = delete;

  /// May be called from several threads at once.
  void sums(const OnsetSamples& samples, std::span<double> out) const;

 private:
  const OnsetDevicePlugin& plugin_;
  OnsetPosteriors* posteriors_;
};

}  // namespace onset::device
