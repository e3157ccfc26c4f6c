#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "explore/http.hpp"

namespace onset::tool {

/// Whether this build has a server.
[[nodiscard]] bool has_server();

/// Answers a request; called from several threads.
using Answer = std::function<explore::Response(const explore::Request&)>;

/// A socket on the loopback address, and nothing more: what is answered is somebody else's matter.
class Server {
 public:
  /// Takes the port, or a free one for 0. Throws IoError when it is taken, and InvalidArgument
  /// where this build has no server.
  [[nodiscard]] static std::unique_ptr<Server> listen(int port, Answer answer);
  virtual ~Server() = default;

  [[nodiscard]] virtual int port() const = 0;
  /// Answers until a stop is requested, then calls `end_work`, so that no answer waits for work any
  /// more, and gives open connections a moment to close. Returns false when some did not: they
  /// have threads that still use what answers them, so the process must end at once.
  [[nodiscard]] virtual bool run(const std::stop_token& stop,
                                 const std::function<void()>& end_work) = 0;
};

}  // namespace onset::tool
