#pragma once

#include <stdexcept>
#include <string>

namespace onset {

/// Misuse: a field has a value that is not allowed. The message names the field as it is called in
/// C++ and Python, what it was, and what is allowed. Other fields stand in backquotes in it, with a
/// value where one is meant: "allowed: with `engine = chain`". A front end that calls fields
/// otherwise, as the command does (--engine chain), translates these and `field()`.
class InvalidArgument : public std::invalid_argument {
 public:
  InvalidArgument(std::string field, std::string message);
  [[nodiscard]] const std::string& field() const { return field_; }
  /// What is wrong with the field, without its name.
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::string field_;
  std::string message_;
};

/// A file or a store could not be read or written.
class IoError : public std::runtime_error {
 public:
  IoError(std::string path, const std::string& message);
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
