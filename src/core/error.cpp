#include "onset/core/error.hpp"

#include <cstddef>
#include <utility>

namespace onset {
namespace {

/// what() ends at the first zero, which a name of others may have.
std::string without_zeros(std::string text) {
  for (std::size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) {
    text.replace(at, 1, "\\x00");
  }
  return text;
}

}  // namespace

InvalidArgument::InvalidArgument(std::string field, std::string message)
    : std::invalid_argument(without_zeros(field + ": " + message)),
      field_(std::move(field)),
      message_(std::move(message)) {}

IoError::IoError(std::string path, const std::string& message)
    : std::runtime_error(without_zeros(path + ": " + message)), path_(std::move(path)) {}

}  // namespace onset
