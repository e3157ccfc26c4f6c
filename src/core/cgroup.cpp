#include "core/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace onset::detail {
namespace {

namespace fs = std::filesystem;

/// The folders of a controller that may limit this process: its own group and all above it.
/// `controller` is empty for v2 (one tree for all controllers). Inside a container the path in the
/// membership file may not exist under the mount; then the mount itself is what counts.
std::vector<fs::path> groups(const CgroupFiles& files, const std::string& controller) {
  std::vector<fs::path> found;
  std::ifstream membership(files.membership);
  for (std::string line; std::getline(membership, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    fs::path root = files.mount;
    if (controller.empty()) {
      if (!controllers.empty()) continue;
    } else {
      if (("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
      root /= controller;
    }
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    while (!group.empty()) {
      found.push_back(root / group);
      group = group.parent_path();
    }
    found.push_back(root);
  }
  return found;
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

template <class T>
void tighten(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

void tighten_quota(std::optional<double>& quota, double microseconds, double period) {
  if (microseconds > 0.0 && period > 0.0) tighten(quota, microseconds / period);
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const CgroupFiles& files) {
  std::optional<double> quota;
  for (const fs::path& group : groups(files, "")) {
    std::istringstream in(first_line(group / "cpu.max"));  // "max 100000" or "150000 100000"
    double microseconds = 0.0;
    double period = 0.0;
    if (in >> microseconds >> period) tighten_quota(quota, microseconds, period);
  }
  for (const fs::path& group : groups(files, "cpu")) {
    std::istringstream quota_in(first_line(group / "cpu.cfs_quota_us"));  // -1: unlimited
    std::istringstream period_in(first_line(group / "cpu.cfs_period_us"));
    double microseconds = 0.0;
    double period = 0.0;
    if (quota_in >> microseconds && period_in >> period) {
      tighten_quota(quota, microseconds, period);
    }
  }
  return quota;
}

std::optional<std::size_t> cgroup_memory_limit(const CgroupFiles& files) {
  std::optional<std::size_t> limit;
  const auto read = [&](const fs::path& file) {
    std::istringstream in(first_line(file));
    std::size_t bytes = 0;
    if (in >> bytes && bytes > 0) tighten(limit, bytes);  // "max" is not read as a number
  };
  for (const fs::path& group : groups(files, "")) read(group / "memory.max");
  for (const fs::path& group : groups(files, "memory")) read(group / "memory.limit_in_bytes");
  return limit;
}

}  // namespace onset::detail
