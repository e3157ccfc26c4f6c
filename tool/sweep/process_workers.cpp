#include "tool/sweep/process_workers.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <vector>

#include "tool/sweep/point_letters.hpp"
#include "tool/sweep/worker_process.hpp"

namespace onset::tool {
namespace {

using study::Workers;
using Clock = WorkerProcess::Clock;

class ProcessWorkers final : public Workers {
 public:
  ProcessWorkers(const study::Plan& plan, std::size_t points_to_do, const Context& context,
                 std::optional<double> max_point_seconds)
      : plan_(plan),
        budget_(plan, points_to_do, context.threads, context.memory_limit),
        stop_(context.stop),
        max_point_seconds_(max_point_seconds) {}
  ProcessWorkers(const ProcessWorkers&) = delete;
  ProcessWorkers& operator=(const ProcessWorkers&) = delete;

  ~ProcessWorkers() override {
    for (Task& task : busy_) idle_.push_back(std::move(task.process));
    for (const auto& process : idle_) process->send_home();
    const Clock::time_point deadline = Clock::now() + stop_grace;
    for (const auto& process : idle_) process->wait_for_end(deadline);
  }

  [[nodiscard]] bool has_room(std::size_t index) const override { return budget_.has_room(index); }

  void start(std::size_t index) override {
    const int threads = budget_.threads_for(index);
    Task task{index, study::begin_point(plan_, index, threads), Clock::now(), {}, nullptr};
    task.process = hand_out(fmt::format("{}{} {}", compute_letter, budget_.memory_for(threads),
                                        study::to_wire(task.begun)));
    budget_.take(index);
    busy_.push_back(std::move(task));
  }

  [[nodiscard]] std::optional<Finished> wait(std::chrono::milliseconds patience) override {
    const Clock::time_point deadline = Clock::now() + patience;
    for (;;) {
      if (stop_.stop_requested() && !stopped_) {
        for (Task& task : busy_) task.process->send_home();
        stopped_ = Clock::now();
      }
      for (auto task = busy_.begin(); task != busy_.end(); ++task) {
        if (auto finished = look_at(*task)) {
          if (task->process) idle_.push_back(std::move(task->process));
          busy_.erase(task);
          budget_.give_back(finished->index);
          return finished;
        }
      }
      if (Clock::now() >= deadline) return std::nullopt;
      receive(deadline);
    }
  }

 private:
  /// A point under way.
  struct Task {
    std::size_t index = 0;
    study::PointRecord begun;
    Clock::time_point start;
    std::string progress;                    ///< what it reported last
    std::unique_ptr<WorkerProcess> process;  ///< none when it has ended
  };

  [[nodiscard]] std::unique_ptr<WorkerProcess> hand_out(const std::string& request) {
    for (; !idle_.empty(); idle_.pop_back()) {
      // A worker that ended while it had nothing to do says nothing about the next point.
      if (!idle_.back()->send(request)) continue;
      std::unique_ptr<WorkerProcess> process = std::move(idle_.back());
      idle_.pop_back();
      return process;
    }
    auto process = std::make_unique<WorkerProcess>();
    (void)process->send(request);  // if it has ended already, wait() will say how
    return process;
  }

  /// Receives what the workers say, until the deadline or the end of a point's time at the latest.
  void receive(Clock::time_point deadline) {
    std::vector<pollfd> entries;
    for (const Task& task : busy_) {
      entries.push_back({task.process->replies(), POLLIN, 0});
      deadline = std::min(deadline, limit_of(task));
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const int timeout = static_cast<int>(std::max<long>(left.count(), 0));
    if (poll(entries.data(), entries.size(), timeout) <= 0) return;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].revents != 0) busy_[i].process->receive();
    }
  }

  /// When the process of a point is to be killed.
  [[nodiscard]] Clock::time_point limit_of(const Task& task) const {
    if (stopped_) return *stopped_ + stop_grace;
    if (!max_point_seconds_) return Clock::time_point::max();
    constexpr double a_century = 3e9;  // the clock can count this far
    return task.start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                            std::min(*max_point_seconds_, a_century)));
  }

  /// Returns nothing while the point is under way.
  [[nodiscard]] std::optional<Finished> look_at(Task& task) {
    while (const auto line = task.process->take_line()) {
      const std::string_view text =
          std::string_view(*line).substr(std::min<std::size_t>(line->size(), 1));
      if (line->starts_with(finished_letter)) return Finished{task.index, study::from_wire(text)};
      if (line->starts_with(stopped_letter)) return Finished{task.index, std::nullopt};
      task.progress = text;
    }
    const bool out_of_time = Clock::now() >= limit_of(task);
    if (!out_of_time && !task.process->ended()) return std::nullopt;
    Finished finished{task.index, std::nullopt};
    if (!stopped_) {
      finished.record = lost(task, out_of_time ? fmt::format("did not end within {} s "
                                                             "(--max-point-seconds)",
                                                             *max_point_seconds_)
                                               : ending_of(*task.process));
    }
    task.process.reset();
    return finished;
  }

  [[nodiscard]] static std::string ending_of(WorkerProcess& process) {
    // Whoever kills all processes of a job kills this one a moment later. The point is then missing
    // and did not fail.
    constexpr std::chrono::milliseconds a_moment{200};
    if (process.ending_signal() == SIGKILL) std::this_thread::sleep_for(a_moment);
    return process.how_it_ended();
  }

  [[nodiscard]] static study::PointRecord lost(const Task& task, std::string reason) {
    if (!task.progress.empty()) reason += "; its last progress: " + task.progress;
    const std::chrono::duration<double> seconds = Clock::now() - task.start;
    return study::lost_point(task.begun, std::move(reason), seconds.count());
  }

  const study::Plan& plan_;
  study::ThreadBudget budget_;
  std::stop_token stop_;
  std::optional<double> max_point_seconds_;
  std::optional<Clock::time_point> stopped_;
  std::vector<Task> busy_;
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
};

}  // namespace

std::unique_ptr<Workers> process_workers(const study::Plan& plan, std::size_t points_to_do,
                                         const Context& context,
                                         std::optional<double> max_point_seconds) {
  return std::make_unique<ProcessWorkers>(plan, points_to_do, context, max_point_seconds);
}

}  // namespace onset::tool
