#include "onset/core/context.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "core/cgroup.hpp"
#include "onset/core/error.hpp"

namespace onset {
namespace {

int affinity_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // The call fails on machines with more CPUs than the set holds; all of them is then the best
  // guess.
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

int positive_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  int value = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, value);
  return error == std::errc{} && rest == end && value > 0 ? value : 0;
}

}  // namespace

void Context::check() const {
  if (stop.stop_requested()) throw Interrupted();
}

void Context::report(double fraction, std::string_view what) const {
  if (progress) progress(fraction, what);
}

int available_threads() {
  int threads = affinity_threads();
  if (const auto quota = detail::cgroup_cpu_quota(); quota && *quota < threads) {
    threads = static_cast<int>(std::ceil(*quota));
  }
  if (const int slurm = positive_environment("SLURM_CPUS_PER_TASK"); slurm > 0) {
    threads = std::min(threads, slurm);
  }
  return std::max(threads, 1);
}

std::size_t available_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGE_SIZE);
  std::size_t bytes = Context{}.memory_limit;
  if (pages > 0 && page_size > 0) {
    bytes = static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_size);
  }
  if (const auto limit = detail::cgroup_memory_limit()) bytes = std::min(bytes, *limit);
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<std::size_t>(address_space.rlim_cur));
  }
  return bytes;
}

}  // namespace onset
