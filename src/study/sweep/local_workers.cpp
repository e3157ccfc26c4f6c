#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <thread>

#include "onset/study/sweep.hpp"

namespace onset::study {
namespace {

class LocalWorkers final : public Workers {
 public:
  LocalWorkers(const Plan& plan, std::size_t points_to_do, const Context& context)
      : plan_(plan),
        budget_(plan, points_to_do, context.threads, context.memory_limit),
        context_(context),
        forward_stop_(context.stop, [this] { stop_.request_stop(); }) {
    context_.stop = stop_.get_token();
    context_.progress = nullptr;  // progress is for the thread that called the sweep
  }

  LocalWorkers(const LocalWorkers&) = delete;
  LocalWorkers& operator=(const LocalWorkers&) = delete;
  ~LocalWorkers() override { stop_.request_stop(); }  // then the threads are joined

  [[nodiscard]] bool has_room(std::size_t index) const override { return budget_.has_room(index); }

  void start(std::size_t index) override {
    budget_.take(index);
    Context context = context_;
    context.threads = budget_.threads_for(index);
    context.memory_limit = budget_.memory_for(context.threads);
    running_.emplace(index, std::jthread([this, index, context] { work(index, context); }));
  }

  [[nodiscard]] std::optional<Finished> wait(std::chrono::milliseconds patience) override {
    std::unique_lock lock(mutex_);
    if (!some_finished_.wait_for(lock, patience, [this] { return !finished_.empty(); })) {
      return std::nullopt;
    }
    Finished finished = std::move(finished_.front());
    finished_.pop_front();
    lock.unlock();
    running_.erase(finished.index);  // joins the thread, which has nothing left to do
    budget_.give_back(finished.index);
    return finished;
  }

 private:
  void work(std::size_t index, const Context& context) {
    Finished finished{
        index, compute_point(*plan_.verb, begin_point(plan_, index, context.threads), context)};
    const std::lock_guard lock(mutex_);
    finished_.push_back(std::move(finished));
    some_finished_.notify_one();
  }

  const Plan& plan_;
  ThreadBudget budget_;
  Context context_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> forward_stop_;
  std::mutex mutex_;
  std::condition_variable some_finished_;
  std::deque<Finished> finished_;
  std::map<std::size_t, std::jthread> running_;  // last, so that it is joined before the rest ends
};

}  // namespace

std::unique_ptr<Workers> local_workers(const Plan& plan, std::size_t points_to_do,
                                       const Context& context) {
  return std::make_unique<LocalWorkers>(plan, points_to_do, context);
}

}  // namespace onset::study
