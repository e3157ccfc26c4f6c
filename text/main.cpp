// onset-text trains transformers on text for `onset smi text`, which starts it. It reads a job from
// standard input and writes a line for everything that happens.
#include <atomic>
#include <cstdio>
#include <exception>
#include <iostream>
#include <mutex>
#include <thread>
#include <vector>

#include "text/training.hpp"

namespace onset::text {
namespace {

/// Writes a line so that it reaches the other side whole and at once.
void say(const smi::TextMessage& message) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << write_message(message) << std::flush;
}

void train_all(const smi::TextJob& job) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (std::int64_t run = next++; run < job.options.runs; run = next++) train(job, run, say);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = job.options.runs;
    }
  };
  std::vector<std::jthread> workers;
  for (int t = 0; t < job.threads; ++t) workers.emplace_back(work);
  workers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace
}  // namespace onset::text

int main() {
  try {
    std::ios::sync_with_stdio(false);
    onset::text::use_one_thread();
    onset::text::train_all(onset::smi::read_job(std::cin));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
