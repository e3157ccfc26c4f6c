#include "device/device.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "onset/core/error.hpp"

namespace onset::device {
namespace {

constexpr const char* variable = "ONSET_DEVICE_PLUGIN";
constexpr const char* file_name = "onset/onset-device.so";

/// The places where an installed plug-in lies.
std::vector<std::filesystem::path> usual_places() {
  std::vector<std::filesystem::path> places;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) places.push_back(self.parent_path().parent_path() / "lib" / file_name);
  places.emplace_back(std::filesystem::path(ONSET_LIBRARY_FOLDER) / file_name);
  return places;
}

/// Loads one file. It is never unloaded, since a driver may keep threads of its own.
Device load(const std::filesystem::path& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return {nullptr, fmt::format("{} cannot be loaded: {}", file.string(), dlerror())};
  using Entry = const OnsetDevicePlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "onset_device_plugin"));
  if (entry == nullptr) return {nullptr, fmt::format("{} is no device plug-in", file.string())};
  const OnsetDevicePlugin* const plugin = entry();
  if (plugin == nullptr || plugin->abi != ONSET_DEVICE_ABI) {
    return {nullptr, fmt::format("{} was built for another version of Onset", file.string())};
  }
  char name[256] = {};
  if (plugin->find(name, sizeof name) != 0) {
    return {nullptr, fmt::format("{} finds no device: {}", file.string(), plugin->error())};
  }
  return {plugin, fmt::format("{} ({})", name, file.string())};
}

Device find_device() {
  if (const char* const named = std::getenv(variable); named != nullptr && *named != '\0') {
    return load(named);
  }
  for (const auto& place : usual_places()) {
    std::error_code error;
    if (std::filesystem::exists(place, error)) return load(place);
  }
  return {nullptr, fmt::format("no device plug-in is installed, and {} names none", variable)};
}

}  // namespace

const Device& device() {
  static const Device found = find_device();
  return found;
}

DeviceKind settle(DeviceKind wanted) {
  if (wanted == DeviceKind::automatic) {
    return device().plugin != nullptr ? DeviceKind::gpu : DeviceKind::cpu;
  }
  if (wanted == DeviceKind::gpu && device().plugin == nullptr) {
    throw Refused("there is no device to run on: " + device().text);
  }
  return wanted;
}

const OnsetDevicePlugin& needed_plugin() {
  (void)settle(DeviceKind::gpu);
  return *device().plugin;
}

std::string_view to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::automatic: break;
  }
  return "auto";
}

}  // namespace onset::device
