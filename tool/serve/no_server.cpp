// The build without cpp-httplib; http_server.cpp takes its place in the other one.
#include "onset/core/error.hpp"
#include "tool/serve/server.hpp"

namespace onset::tool {

bool has_server() {
  return false;
}

std::unique_ptr<Server> Server::listen(int, Answer) {
  throw InvalidArgument("serve",
                        "this Onset was built without cpp-httplib; to get it: install "
                        "libcpp-httplib-dev, configure again (cmake --preset release) and build");
}

}  // namespace onset::tool
