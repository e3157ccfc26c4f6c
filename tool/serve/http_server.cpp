#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <future>
#include <thread>

#include "explore/guard.hpp"
#include "onset/core/error.hpp"
#include "tool/serve/server.hpp"

namespace onset::tool {
namespace {

constexpr const char* loopback = "127.0.0.1";
/// Requests that wait for runs hold a thread each, so there are more than processors.
constexpr std::size_t server_threads = 16;
/// A browser opens connections in advance; they must not hold threads for long.
constexpr int idle_seconds = 1;
constexpr std::size_t requests_per_connection = 100;
/// How long a request may take to arrive; longer ones are given up.
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

class HttpServer final : public Server {
 public:
  HttpServer(int port, Answer answer) : answer_(std::move(answer)) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(server_threads); };
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
    // What the library itself refuses (broken or too large requests) has no body.
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const auto status = response.status;
      to_socket(explore::refusal(status, "the request is malformed or too large"), response);
    });
    port_ = port == 0 ? server_.bind_to_any_port(loopback)
                      : (server_.bind_to_port(loopback, port) ? port : -1);
    if (port_ < 0) {
      throw IoError(fmt::format("{}:{}", loopback, port),
                    "cannot be listened on, most likely because another program does; allowed: "
                    "--port with another number, or --port 0 for any that is free");
    }
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
