#pragma once

#include <stdexcept>
#include <string>

namespace onset {

/// Misuse: a field has a value that is not allowed. The message names the field, what it was, and
/// what is allowed.
class InvalidArgument : public std::invalid_argument {
 public:
  InvalidArgument(std::string field, const std::string& message)
      : std::invalid_argument(field + ": " + message), field_(std::move(field)) {}
  [[nodiscard]] const std::string& field() const { return field_; }

 private:
  std::string field_;
};

/// A file or a store could not be read or written.
class IoError : public std::runtime_error {
 public:
  IoError(std::string path, const std::string& message)
      : std::runtime_error(path + ": " + message), path_(std::move(path)) {}
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A well-formed request that the method cannot answer honestly; the message says why.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked to stop (Ctrl-C, a time limit). Thrown from Context::check().
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

}  // namespace onset
