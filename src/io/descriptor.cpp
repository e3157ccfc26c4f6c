#include "io/descriptor.hpp"

#include <unistd.h>

namespace onset::io {

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

}  // namespace onset::io
