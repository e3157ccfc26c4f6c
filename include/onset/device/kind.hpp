#pragma once

#include <string_view>

namespace onset::device {

/// Where the large products of a learner are computed.
enum class DeviceKind {
  cpu,
  gpu,        ///< by a plug-in (docs/gpu.md)
  automatic,  ///< gpu where there is one; what it was is said in the effective parameters
};

[[nodiscard]] std::string_view to_string(DeviceKind kind);

}  // namespace onset::device
