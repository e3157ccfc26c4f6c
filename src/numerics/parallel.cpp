#include "numerics/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "numerics/shared_map.hpp"
#include "onset/core/error.hpp"

namespace onset::numerics {
namespace {

// One run of parallel_for: the threads take indices from a counter until there are none, a body
// throws, or a stop is requested.
class Loop {
 public:
  Loop(const Context& context, std::size_t count, const std::function<void(std::size_t)>& body)
      : stop_(context.stop), count_(count), body_(body) {}

  void work() {
    while (!ended_.load(std::memory_order_relaxed)) {
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      try {
        if (stop_.stop_requested()) throw Interrupted();
        const WithPeers alone(nullptr);
        body_(index);
      } catch (...) {
        fail(index);
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // Of several exceptions the one of the lowest index is kept: it is the likeliest to be the same
  // in the next run.
  void fail(std::size_t index) {
    const std::lock_guard lock(mutex_);
    if (!error_ || index < error_index_) {
      error_ = std::current_exception();
      error_index_ = index;
    }
    ended_.store(true, std::memory_order_relaxed);
  }

  std::stop_token stop_;
  std::size_t count_;
  const std::function<void(std::size_t)>& body_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t error_index_ = 0;
};

}  // namespace

void parallel_for(const Context& context, std::size_t count,
                  const std::function<void(std::size_t)>& body) {
  Loop loop(context, count, body);
  {
    const std::size_t threads = static_cast<std::size_t>(std::max(context.threads, 1));
    const std::size_t helpers = std::min(threads, std::max<std::size_t>(count, 1)) - 1;
    std::vector<std::jthread> pool;  // joined at the end of this block
    pool.reserve(helpers);
    try {
      for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back([&loop] { loop.work(); });
    } catch (const std::system_error&) {
      // The machine gives no more threads; the existing ones do the work, with the same result.
    }
    loop.work();
  }
  loop.rethrow();
}

double ordered_sum(const double* values, std::size_t count) {
  constexpr std::size_t leaf = 8;
  if (count > leaf) {
    const std::size_t half = count / 2;
    return ordered_sum(values, half) + ordered_sum(values + half, count - half);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  return sum;
}

}  // namespace onset::numerics
