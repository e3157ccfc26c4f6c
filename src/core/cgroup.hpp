#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace onset::detail {

/// Where the kernel shows control groups; tests point it to a made-up tree.
struct CgroupFiles {
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path mount = "/sys/fs/cgroup";
};

/// The number of cores that the tightest quota (cgroup v2 or v1) above this process allows; nothing
/// when unlimited.
[[nodiscard]] std::optional<double> cgroup_cpu_quota(const CgroupFiles& files = {});
/// The number of bytes that the tightest memory limit above this process allows; nothing when
/// unlimited.
[[nodiscard]] std::optional<std::size_t> cgroup_memory_limit(const CgroupFiles& files = {});

}  // namespace onset::detail
