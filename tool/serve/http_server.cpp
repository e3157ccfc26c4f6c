#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "explore/guard.hpp"
#include "onset/core/error.hpp"
#include "tool/serve/server.hpp"

namespace onset::tool {
namespace {

constexpr const char* loopback = "127.0.0.1";
/// Every open connection holds a thread, however slowly its request arrives, and so do requests
/// that wait for runs. Connections beyond this wait for one of them to end.
constexpr std::size_t most_connections = 512;
/// A browser opens connections in advance; they must not hold threads for long.
constexpr int idle_seconds = 1;
constexpr std::size_t requests_per_connection = 100;
/// How long we wait for the next bytes of a request; one whose bytes come later is given up.
constexpr int read_seconds = 5;
/// What connections get to close when the server ends.
constexpr std::chrono::milliseconds closing_time{300};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

explore::Request from_socket(const httplib::Request& request) {
  explore::Request out{request.method, request.target, {}, request.body};
  for (const auto& [name, value] : request.headers) {
    const auto [entry, fresh] = out.headers.emplace(lower_case(name), value);
    // A header that comes twice is ambiguous: with both in it, it fits nothing that we allow.
    if (!fresh) entry->second += ", " + value;
  }
  return out;
}

void to_socket(const explore::Response& answer, httplib::Response& response) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  response.set_content(answer.body, answer.type);
}

/// A thread for each connection that is open at a time, so that slow ones keep none of the others
/// waiting. Threads are made when they are needed; those that have had nothing to do for a while
/// end, all but one: where no further thread can be made, it takes one connection after the other.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  ConnectionThreads() {
    const std::lock_guard lock(mutex_);
    add_thread();
  }
  ConnectionThreads(const ConnectionThreads&) = delete;
  ConnectionThreads& operator=(const ConnectionThreads&) = delete;
  ~ConnectionThreads() override { end(); }

  using Connection = std::function<void()>;
  /// Nothing, or whether there was room, as the version of the library has it.
  using Taken = decltype(std::declval<httplib::TaskQueue&>().enqueue(Connection()));

  Taken enqueue(Connection connection) override {
    const std::lock_guard lock(mutex_);
    join_finished();
    waiting_.push_back(std::move(connection));
    if (waiting_.size() > idle_ && threads_.size() < most_connections) add_thread();
    changed_.notify_one();
    return static_cast<Taken>(true);
  }

  void shutdown() override { end(); }

 private:
  using Threads = std::list<std::thread>;

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return threads_.empty(); });
    join_finished();
  }

  void add_thread() {
    const auto place = threads_.emplace(threads_.end());
    try {
      *place = std::thread([this, place] { work(place); });
    } catch (const std::system_error&) {
      threads_.erase(place);
      if (threads_.empty()) throw;  // else one of the others takes the connection later
    }
  }

  /// Whoever calls it has the lock, which a finished thread has given back for good.
  void join_finished() {
    for (std::thread& thread : finished_) thread.join();
    finished_.clear();
  }

  void work(Threads::iterator place) {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait_for(lock, std::chrono::seconds(idle_seconds),
                        [this] { return ended_ || !waiting_.empty(); });
      --idle_;
      if (waiting_.empty() && !ended_ && threads_.size() == 1) continue;
      if (waiting_.empty()) {
        finished_.splice(finished_.end(), threads_, place);
        changed_.notify_all();
        return;
      }
      const Connection connection = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      connection();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Connection> waiting_;
  Threads threads_;
  Threads finished_;  // to be joined
  std::size_t idle_ = 0;
  bool ended_ = false;
};

class HttpServer final : public Server {
 public:
  HttpServer(int port, Answer answer) : answer_(std::move(answer)) {
    // The library owns what it asks for, once.
    server_.new_task_queue = [this] { return threads_.release(); };
    server_.set_payload_max_length(explore::max_body);
    server_.set_keep_alive_timeout(idle_seconds);
    server_.set_keep_alive_max_count(requests_per_connection);
    server_.set_read_timeout(read_seconds);
    const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
      to_socket(answer_(from_socket(request)), response);
    };
    constexpr const char* everything = ".*";
    server_.Get(everything, handle);
    server_.Post(everything, handle);
    server_.Delete(everything, handle);
    server_.Put(everything, handle);
    server_.Patch(everything, handle);
    server_.Options(everything, handle);
    // Clients that send `Expect: 100-continue` get 413 before they send a body that is too large;
    // other bodies are read to their end, since a connection closed before that may lose the
    // answer.
    server_.set_expect_100_continue_handler(
        [](const httplib::Request& request, httplib::Response& response) {
          constexpr int go_on = 100, too_large = 413;
          const auto announced = request.get_header_value<std::uint64_t>("Content-Length");
          if (announced <= explore::max_body) return go_on;
          return response.status = too_large;
        });
    // What the library itself refuses (broken or too large requests) has no body.
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const auto status = response.status;
      to_socket(explore::refusal(status, "the request is malformed or too large"), response);
    });
    int listener = -1;
    server_.set_socket_options([&listener](int made) {
      httplib::default_socket_options(made);
      listener = made;
    });
    port_ = port == 0 ? server_.bind_to_any_port(loopback)
                      : (server_.bind_to_port(loopback, port) ? port : -1);
    if (port_ < 0) {
      throw IoError(fmt::format("{}:{}", loopback, port),
                    "cannot be listened on, most likely because another program does; allowed: "
                    "--port with another number, or --port 0 for any that is free");
    }
    // The library lets five wait; whoever comes then is only heard a second later. A failure leaves
    // it at that.
    (void)::listen(listener, static_cast<int>(most_connections));
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() override { server_.stop(); }

  [[nodiscard]] int port() const override { return port_; }

  [[nodiscard]] bool run(const std::stop_token& stop,
                         const std::function<void()>& end_work) override {
    std::promise<void> closed;
    std::thread listener([this, &closed] {
      server_.listen_after_bind();
      closed.set_value();
    });
    {
      std::promise<void> asked;
      const std::stop_callback wakes(stop, [&asked] { asked.set_value(); });
      asked.get_future().wait();
    }
    server_.stop();
    end_work();
    if (closed.get_future().wait_for(closing_time) != std::future_status::ready) {
      listener.detach();
      return false;
    }
    listener.join();
    return true;
  }

 private:
  Answer answer_;
  std::unique_ptr<ConnectionThreads> threads_ = std::make_unique<ConnectionThreads>();
  httplib::Server server_;
  int port_ = -1;
};

}  // namespace

bool has_server() {
  return true;
}

std::unique_ptr<Server> Server::listen(int port, Answer answer) {
  return std::make_unique<HttpServer>(port, std::move(answer));
}

}  // namespace onset::tool
