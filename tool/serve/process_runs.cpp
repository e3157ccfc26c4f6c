#include "tool/serve/process_runs.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "onset/core/error.hpp"
#include "onset/study/sweep.hpp"
#include "tool/sweep/point_letters.hpp"
#include "tool/sweep/worker_process.hpp"

namespace onset::tool {
namespace {

using Clock = std::chrono::steady_clock;
using explore::RunState;

/// More runs at a time only slow one another down.
constexpr std::size_t most_running = 4;
/// How many finished runs are remembered; the page keeps those that it shows.
constexpr std::size_t most_remembered = 16;
/// How many processes wait for the next run, so that a slider need not wait for a new one.
constexpr std::size_t most_idle = 2;
/// How often a run looks whether it was stopped.
constexpr int look_ms = 10;
/// What a run that was stopped gets before it is killed: enough to end what it started itself.
constexpr std::chrono::milliseconds grace_of_a_run{300};

class ProcessRuns final : public explore::Runs {
 public:
  explicit ProcessRuns(std::size_t memory) : memory_(memory / most_running) {}
  ProcessRuns(const ProcessRuns&) = delete;
  ProcessRuns& operator=(const ProcessRuns&) = delete;

  ~ProcessRuns() override { end(); }

  void end() override {
    std::map<std::uint64_t, std::unique_ptr<Run>> all;  // joined without the lock
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      all.swap(runs_);
      changed_.notify_all();
    }
    for (auto& [id, run] : all) run->thread.request_stop();
  }

  [[nodiscard]] std::optional<std::uint64_t> start(study::PointRecord begun) override {
    std::vector<std::unique_ptr<Run>> forgotten;  // joined without the lock
    const std::lock_guard lock(mutex_);
    forgotten = forget_old();
    const auto under_way = std::count_if(
        runs_.begin(), runs_.end(), [](const auto& entry) { return !entry.second->state.ended; });
    if (ended_ || static_cast<std::size_t>(under_way) >= most_running) return std::nullopt;
    const std::uint64_t id = ++last_id_;
    auto run = std::make_unique<Run>();
    run->start = Clock::now();
    run->thread = std::jthread([this, state = run.get(), begun = std::move(begun)](
                                   const std::stop_token& stop) { compute(*state, begun, stop); });
    runs_.emplace(id, std::move(run));
    return id;
  }

  [[nodiscard]] std::optional<RunState> wait(std::uint64_t id,
                                             std::chrono::milliseconds patience) override {
    std::unique_lock lock(mutex_);
    const Clock::time_point deadline = Clock::now() + patience;
    for (;;) {
      const auto found = runs_.find(id);  // it may be forgotten while we wait
      if (found == runs_.end()) return std::nullopt;
      const Run& run = *found->second;
      const bool in_time = Clock::now() < deadline;
      if (run.state.ended || !in_time) return state_now(run);
      changed_.wait_until(lock, deadline);
    }
  }

  bool stop(std::uint64_t id) override {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(id);
    return found != runs_.end() && (found->second->thread.request_stop(), true);
  }

 private:
  struct Run {
    RunState state;
    std::string rows;  ///< what its process sent last of the rows so far; read when somebody asks
    Clock::time_point start;
    std::jthread thread;
  };

  static RunState state_now(const Run& run) {
    RunState out = run.state;
    if (!out.ended) out.seconds = seconds_since(run.start);
    if (!out.record && !run.rows.empty()) out.record = study::from_wire(run.rows);
    return out;
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  [[nodiscard]] std::vector<std::unique_ptr<Run>> forget_old() {
    std::vector<std::unique_ptr<Run>> forgotten;
    for (auto entry = runs_.begin(); entry != runs_.end() && runs_.size() >= most_remembered;) {
      if (!entry->second->state.ended) {
        ++entry;
        continue;
      }
      forgotten.push_back(std::move(entry->second));
      entry = runs_.erase(entry);
    }
    return forgotten;
  }

  /// The life of a run, in its own thread.
  void compute(Run& run, const study::PointRecord& begun, const std::stop_token& stop) {
    std::optional<study::PointRecord> record;
    try {
      std::unique_ptr<WorkerProcess> process = take_idle();
      if (!process) process = std::make_unique<WorkerProcess>();
      (void)process->send(fmt::format("{}{} {}", watch_letter, memory_, study::to_wire(begun)));
      record = listen(run, *process, begun, stop);
      if (record && !process->ended()) give_back(std::move(process));
    } catch (const std::exception& error) {
      record = study::lost_point(begun, error.what(), seconds_since(run.start));
    }
    const std::lock_guard lock(mutex_);
    run.state.seconds = seconds_since(run.start);
    run.state.stopped = !record;
    run.state.record = std::move(record);
    if (run.state.record) run.rows.clear();
    run.state.ended = true;
    changed_.notify_all();
  }

  /// Reads what the process says until its run has ended; nothing when it was stopped.
  [[nodiscard]] std::optional<study::PointRecord> listen(Run& run, WorkerProcess& process,
                                                         const study::PointRecord& begun,
                                                         const std::stop_token& stop) {
    for (;;) {
      if (const auto finished = heed_lines(run, process)) return study::from_wire(*finished);
      if (stop.stop_requested()) {
        process.send_home();
        process.wait_for_end(Clock::now() + grace_of_a_run);
        // It may have finished meanwhile; else it sent the rows that it had when it was stopped.
        const auto late = heed_lines(run, process);
        return late ? std::optional(study::from_wire(*late)) : std::nullopt;
      }
      if (process.ended()) {
        return study::lost_point(begun, process.how_it_ended(), seconds_since(run.start));
      }
      pollfd entry{process.replies(), POLLIN, 0};
      if (poll(&entry, 1, look_ms) > 0) process.receive();
    }
  }

  /// Files what the process said; returns the record once it is finished.
  [[nodiscard]] std::optional<std::string> heed_lines(Run& run, WorkerProcess& process) {
    while (const auto line = process.take_line()) {
      if (line->starts_with(finished_letter)) return line->substr(1);
      const std::lock_guard lock(mutex_);
      if (line->starts_with(progress_letter)) run.state.progress = line->substr(1);
      if (line->starts_with(rows_letter)) run.rows = line->substr(1);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<WorkerProcess> take_idle() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<WorkerProcess> process = std::move(idle_.back());
    idle_.pop_back();
    return process;
  }

  void give_back(std::unique_ptr<WorkerProcess> process) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(process));
  }

  std::size_t memory_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::uint64_t last_id_ = 0;
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
  std::map<std::uint64_t, std::unique_ptr<Run>> runs_;
};

}  // namespace

std::unique_ptr<explore::Runs> process_runs(std::size_t memory) {
  return std::make_unique<ProcessRuns>(memory);
}

}  // namespace onset::tool
