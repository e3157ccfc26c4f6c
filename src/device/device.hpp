#pragma once

#include <string>

#include "onset/device/kind.hpp"
#include "onset/device/plugin.hpp"

namespace onset::device {

/// The device of this machine, or why there is none.
struct Device {
  const OnsetDevicePlugin* plugin = nullptr;
  std::string
      text;  ///< its name and the file of its plug-in; without a device, a clause that says why
};

/// Loads the plug-in, once per process: the file that the environment variable ONSET_DEVICE_PLUGIN
/// names, or else lib/onset/onset-device.so beside the folder of this program, or where Onset was
/// installed. A file that is no plug-in, or one for another version, counts as none and is said.
[[nodiscard]] const Device& device();

/// Decides between the two where it is automatic. Throws Refused, saying why, for a device that is
/// not there.
[[nodiscard]] DeviceKind settle(DeviceKind wanted);

/// The plug-in of a device that must be there: throws Refused otherwise.
[[nodiscard]] const OnsetDevicePlugin& needed_plugin();

}  // namespace onset::device
