#include "onset/study/sweep.hpp"

#include <algorithm>
#include <deque>

#include "onset/core/error.hpp"
#include "study/sweep/point_work.hpp"

namespace onset::study {
namespace {

using Clock = std::chrono::steady_clock;

/// How long to wait for a point before checking the stop token and the report again.
constexpr std::chrono::milliseconds patience{100};

void count(SweepProgress& progress, PointStatus status) {
  switch (status) {
    case PointStatus::ok: ++progress.ok; return;
    case PointStatus::unconverged: ++progress.unconverged; return;
    case PointStatus::refused: ++progress.refused; return;
    case PointStatus::failed: ++progress.failed; return;
  }
}

/// Where the points of a shard stand, and which of them are to be computed.
struct Standing {
  SweepProgress progress;
  std::vector<std::size_t> missing;
};

Standing standing(const Plan& plan, const Store& store, const SweepOptions& options) {
  Standing out;
  const std::map<std::string, PointStatus> statuses = store.statuses();
  for (const std::size_t i : chosen_points(plan, options)) {
    ++out.progress.points;
    const auto found = statuses.find(plan.points[i].key);
    const bool settled =
        found != statuses.end() && !(options.retry && found->second != PointStatus::ok);
    if (settled) {
      count(out.progress, found->second);
    } else {
      out.missing.push_back(i);
    }
  }
  return out;
}

/// Files a record; returns false when a stop was requested while another program kept the store
/// locked.
bool file(Store& store, const PointRecord& record) {
  try {
    store.put(record);
    return true;
  } catch (const Interrupted&) {
    return false;
  }
}

/// Predicts the time left from the estimated work that this sweep has done so far.
class Forecast {
 public:
  Forecast(const Plan& plan, const std::vector<std::size_t>& points) : plan_(plan) {
    for (const std::size_t index : points) left_ += work(index);
  }

  void done(std::size_t index) {
    done_ += work(index);
    left_ -= work(index);
  }

  [[nodiscard]] std::optional<double> seconds_left() const {
    if (done_ <= 0.0) return std::nullopt;
    const std::chrono::duration<double> elapsed = Clock::now() - start_;
    return elapsed.count() * std::max(left_, 0.0) / done_;
  }

 private:
  [[nodiscard]] double work(std::size_t index) const { return point_work(plan_.points[index]); }

  const Plan& plan_;
  Clock::time_point start_ = Clock::now();
  double done_ = 0.0;
  double left_ = 0.0;
};

}  // namespace

SweepProgress sweep_status(const Plan& plan, const Store& store, const SweepOptions& options) {
  return standing(plan, store, options).progress;
}

SweepProgress run_sweep(const Plan& plan, Store& store, Workers& workers,
                        const SweepOptions& options, const Context& context,
                        const std::function<void(const SweepProgress&)>& report) {
  auto [progress, missing] = standing(plan, store, options);
  // Cheap points come first, so that mistakes show early.
  std::stable_sort(missing.begin(), missing.end(), [&](std::size_t a, std::size_t b) {
    return plan.points[a].core_seconds < plan.points[b].core_seconds;
  });
  Forecast forecast(plan, missing);
  std::deque<std::size_t> queue(missing.begin(), missing.end());
  const auto may_start = [&] {
    return !queue.empty() && !context.stop.stop_requested() && workers.has_room(queue.front());
  };
  for (;;) {
    for (; may_start(); queue.pop_front()) {
      workers.start(queue.front());
      ++progress.running;
    }
    if (report) report(progress);
    if (progress.running == 0 && (queue.empty() || context.stop.stop_requested())) return progress;
    const std::optional<Workers::Finished> finished = workers.wait(patience);
    if (finished) {
      --progress.running;
      if (finished->record && file(store, *finished->record)) {
        count(progress, finished->record->status);
        ++progress.computed;
        forecast.done(finished->index);
      }
    }
    progress.seconds_left = forecast.seconds_left();
  }
}

}  // namespace onset::study
