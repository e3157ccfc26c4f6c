#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string_view>

namespace onset {

/// How to compute, never what: every run receives a context, and it never changes a number.
struct Context {
  /// Worker threads; results are the same bit for bit for any value.
  int threads = 1;
  /// Asks a run to stop; long loops poll it several times a second.
  std::stop_token stop = {};
  /// Called now and then with the fraction done and what is being done; may be empty. Calls come
  /// from the thread that called the run, never concurrently.
  std::function<void(double fraction, std::string_view what)> progress = {};
  /// Bytes that a run may allocate.
  std::size_t memory_limit = std::size_t{4} << 30;

  /// Throws Interrupted when a stop was requested.
  void check() const;
  void report(double fraction, std::string_view what) const;
};

/// Threads that the affinity mask, the cgroup quota and SLURM_CPUS_PER_TASK allow; at least 1.
[[nodiscard]] int available_threads();
/// Bytes of memory that the machine, the cgroup and `ulimit -v` allow.
[[nodiscard]] std::size_t available_memory();

}  // namespace onset
