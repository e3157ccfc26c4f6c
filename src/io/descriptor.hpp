#pragma once

#include <string>
#include <utility>

namespace onset::io {

/// A file descriptor that is closed when the object ends.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

/// What the system says of the call that has just failed.
[[nodiscard]] std::string last_error();

}  // namespace onset::io
