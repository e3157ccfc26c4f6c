#include "io/descriptor.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace onset::io {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

std::string last_error() {
  return std::generic_category().message(errno);
}

}  // namespace onset::io
