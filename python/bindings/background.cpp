#include "background.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "onset/core/error.hpp"
#include "onset/core/parameters.hpp"

namespace onset::python {
namespace {

namespace py = pybind11;

/// How often a run checks for Ctrl-C and the time limit, and tells how far it is.
constexpr auto poll_interval = std::chrono::milliseconds(50);
constexpr int most_threads = 4096;  // as in the command

/// Where a run stands, as its own thread says.
struct News {
  double fraction = 0.0;
  std::string what;
};

class Background {
 public:
  Background(int threads, const std::function<void(const Context&)>& work)
      : worker_([this, threads, &work](const std::stop_token& stop) {
          Context context;
          context.threads = threads;
          context.stop = stop;
          context.memory_limit = available_memory();
          context.progress = [this](double fraction, std::string_view what) {
            const std::lock_guard lock(mutex_);
            news_ = News{fraction, std::string(what)};
          };
          try {
            work(context);
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::lock_guard lock(mutex_);
          done_ = true;
          changed_.notify_all();
        }) {}

  [[nodiscard]] bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, poll_interval, [this] { return done_; });
  }
  void stop() { worker_.request_stop(); }
  [[nodiscard]] std::optional<News> news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, std::nullopt);
  }
  /// Throws what the work threw.
  void finish() {
    worker_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<News> news_;
  bool done_ = false;
  std::jthread worker_;  // comes last, since it uses the others
};

/// Whether this thread has been told to stop: by Ctrl-C, or by an error of `progress`, both of
/// which Python then keeps.
bool is_called_off(const How& how, Background& background) {
  if (PyErr_CheckSignals() != 0) return true;
  const std::optional<News> news = background.news();
  if (!news || how.progress.is_none()) return false;
  try {
    how.progress(news->fraction, news->what);
  } catch (py::error_already_set& error) {
    error.restore();
    return true;
  }
  return false;
}

}  // namespace

void How::check() const {
  if (threads && (*threads < 1 || *threads > most_threads)) {
    throw InvalidArgument("threads", std::to_string(*threads) +
                                         " is not allowed; allowed: a whole number in [1, " +
                                         std::to_string(most_threads) + "]");
  }
  if (max_seconds && !(*max_seconds > 0.0)) {
    throw InvalidArgument("max_seconds",
                          to_text(Value(*max_seconds)) + " is not allowed; allowed: a number > 0");
  }
}

bool in_background(const How& how, const std::function<void(const Context&)>& work) {
  how.check();
  const auto start = std::chrono::steady_clock::now();
  Background background(how.thread_count(), work);
  bool called_off = false;
  bool late = false;
  for (;;) {
    bool done = false;
    {
      const py::gil_scoped_release release;
      done = background.wait();
    }
    if (done) break;
    called_off = called_off || is_called_off(how, background);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    late = late || (how.max_seconds && spent.count() > *how.max_seconds);
    if (called_off || late) background.stop();
  }
  if (called_off) {
    try {
      background.finish();
    } catch (...) {  // what Python was told to raise comes first
    }
    throw py::error_already_set();
  }
  background.finish();
  return late;
}

}  // namespace onset::python
