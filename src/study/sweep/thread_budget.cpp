#include <algorithm>

#include "onset/study/sweep.hpp"

namespace onset::study {
namespace {

/// A point with more work than this runs with all threads; if it ran with one, the last points of a
/// sweep would keep the other threads waiting for that long.
constexpr double small_point_seconds = 30.0;

}  // namespace

ThreadBudget::ThreadBudget(const Plan& plan, std::size_t points_to_do, int threads,
                           std::size_t memory)
    : plan_(&plan), threads_(std::max(threads, 1)), memory_(memory) {
  const auto all = static_cast<std::size_t>(threads_);
  small_threads_ = static_cast<int>(all / std::clamp<std::size_t>(points_to_do, 1, all));
}

bool ThreadBudget::has_room(std::size_t index) const {
  return busy_ + threads_for(index) <= threads_;
}

int ThreadBudget::threads_for(std::size_t index) const {
  const Point& point = plan_->points[index];
  const bool small = point.core_seconds <= small_point_seconds &&
                     point.memory_bytes <= static_cast<double>(memory_for(small_threads_));
  return small ? small_threads_ : threads_;
}

std::size_t ThreadBudget::memory_for(int threads) const {
  return memory_ / static_cast<std::size_t>(threads_) * static_cast<std::size_t>(threads);
}

}  // namespace onset::study
